/** The first page where there are several accounts: which are in trouble, and what is owed in all of them. Each leads to its own page. */
import { owedText, type OwedAmount } from '../../domain/amounts.ts';
import { causeTexts } from '../../health/causes.ts';
import type { AccountHealth, Health, Tone } from '../../health/judge.ts';
import { vendorCounts } from '../../health/status-document.ts';
import type { AccountOwed } from '../../store/reports/owed.ts';
import { ago, count, counted, html, page, sentence, type Html, type Page } from './html.ts';
import { footer } from './overview.ts';

/** @param owed null while it is worked out */
export function accountsPage(health: Health, owed: readonly AccountOwed[] | null): Page {
  const { accounts, now } = health;
  const listed = byTrouble(accounts);
  const sums = new Map<string, string[]>();
  for (const { account, currency, outstanding } of owed ?? [])
    if (outstanding.value !== 0)
      sums.set(account, [...(sums.get(account) ?? []), `${owedText(outstanding, currency)} ${currency}`]);
  const content = html`<main id="main">
      ${verdict(health)} ${total(owed)}
      <section aria-labelledby="accounts-title">
        <h2 id="accounts-title">Accounts</h2>
        <label for="account-filter" class="unseen">Find an account by its id or state</label>
        <input
          type="search"
          id="account-filter"
          data-own
          placeholder="Find an account by its id or state"
          autocomplete="off"
          spellcheck="false"
        />
        <div class="scroll" tabindex="0" role="group" aria-label="Accounts">
          <table id="account-list">
            <thead>
              <tr>
                <th scope="col">Account</th>
                <th scope="col">State</th>
                <th scope="col" class="number">Active vendors</th>
                <th scope="col" class="number">Owed to them</th>
                <th scope="col">As of</th>
              </tr>
            </thead>
            <tbody>
              ${listed.map((account) => row(account, sums.get(account.facts.account) ?? [], now))}
            </tbody>
          </table>
        </div>
      </section>
    </main>
    ${footer(health.facts, now)}`;
  return page({ title: `${count(accounts.length)} accounts`, root: './', now, content });
}

const tones: readonly Tone[] = ['bad', 'busy', 'fair', 'good'];

/** Those in most need of a person first, and otherwise in one order, so that nothing moves while all stays as it is. */
function byTrouble(accounts: readonly AccountHealth[]): AccountHealth[] {
  const need = ({ isServed, verdict }: AccountHealth): number =>
    isServed ? tones.indexOf(verdict.tone) : tones.length;
  return [...accounts].sort((a, b) => need(a) - need(b) || (a.facts.account < b.facts.account ? -1 : 1));
}

/** How many causes have room. */
const causesShown = 10;

function verdict(health: Health): Html {
  const { accounts, facts } = health;
  const served = accounts.filter(({ isServed }) => isServed);
  const wrong = served.filter(({ verdict: { isCorrect } }) => !isCorrect);
  const noted = served.filter(({ verdict: { code, isCorrect } }) => isCorrect && code !== 'correct');
  const tone = wrong.length > 0 ? 'bad' : noted.length > 0 ? 'fair' : 'good';
  const words =
    wrong.length > 0
      ? `Of ${counted(served.length, 'account')}, ${count(wrong.length)} ${wrong.length === 1 ? 'is' : 'are'} not correct.`
      : noted.length > 0
        ? `All ${count(served.length)} accounts are correct; ${count(noted.length)} ${noted.length === 1 ? 'needs' : 'need'} attention.`
        : `All ${count(served.length)} accounts are correct.`;
  return html`<section id="verdict" class="verdict ${tone}">
    <h1 aria-live="polite">${words}</h1>
    ${causeTexts(health)
      .slice(0, causesShown)
      .map((text) => html`<p class="detail">${sentence(text)}</p>`)}
    <p class="meaning">The mirror is <code>${facts.database}</code>.</p>
  </section>`;
}

function total(owed: readonly AccountOwed[] | null): Html {
  const currencies = owed === null ? [] : [...new Set(owed.map(({ currency }) => currency))].sort();
  const sum = (currency: string, amount: 'outstanding' | 'overdue'): OwedAmount =>
    (owed ?? [])
      .filter((one) => one.currency === currency)
      .map((one) => one[amount])
      .reduce((all, one) => ({
        value: all.value + one.value,
        minor: all.minor === null || one.minor === null ? null : all.minor + one.minor,
      }));
  return html`<section id="contents" aria-labelledby="contents-title">
    <h2 id="contents-title">Owed in all accounts</h2>
    ${
      currencies.length === 0
        ? html`<p class="soft">
            ${owed === null ? 'What is owed is being calculated.' : 'Nothing is known to be owed to active vendors.'}
          </p>`
        : html`<div class="scroll" tabindex="0" role="group" aria-label="Owed to active vendors of all accounts">
            <table class="owed">
              <caption>
                Owed to active vendors
              </caption>
              <thead>
                <tr>
                  <th scope="col">Currency</th>
                  <th scope="col" class="number">Outstanding</th>
                  <th scope="col" class="number">Overdue</th>
                </tr>
              </thead>
              <tbody>
                ${currencies.map((currency) => {
                  const overdue = sum(currency, 'overdue');
                  return html`<tr>
                    <th scope="row"><bdi>${currency}</bdi></th>
                    <td class="number">${owedText(sum(currency, 'outstanding'), currency)}</td>
                    <td class="number ${overdue.value === 0 ? '' : 'late'}">${owedText(overdue, currency)}</td>
                  </tr>`;
                })}
              </tbody>
            </table>
          </div>`
    }
  </section>`;
}

function row({ facts, verdict, problems, asOf }: AccountHealth, sums: readonly string[], now: number): Html {
  const { account, counts } = facts;
  return html`<tr id="account-${account}">
    <th scope="row"><a href="./?account=${account}">${account}</a></th>
    <td><span class="dot ${verdict.tone}"></span> ${problems[0]?.message ?? 'Correct'}</td>
    <td class="number" data-name="Active vendors:">${count(vendorCounts(counts).active)}</td>
    <td class="number" data-name="Owed:">
      ${sums.map((sum, at) => html`${at > 0 ? html`<br />` : null}<bdi>${sum}</bdi>`)}
    </td>
    <td data-name="As of:">${ago(now, asOf)}</td>
  </tr>`;
}
