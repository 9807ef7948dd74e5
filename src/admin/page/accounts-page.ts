/** The first page where there are several accounts: which are in trouble, and what is owed in all of them. Each leads to its own page. */
import { owedText } from '../../domain/amounts.ts';
import { counted } from '../../domain/size.ts';
import { byTrouble, causeTexts, stateOf, toneOrder } from '../../health/causes.ts';
import type { AccountHealth, Health, Tone } from '../../health/judge.ts';
import { vendorCounts } from '../../health/status-document.ts';
import { owedInAll, type AccountOwed } from '../../store/reports/owed.ts';
import { owedTable, vendorTiles } from './contents-section.ts';
import { ago, clockTime, count, html, page, sentence, type Html, type Page } from './html.ts';
import { footer, nextReconciliation } from './overview.ts';

/** @param owed null while it is worked out */
export function accountsPage(health: Health, owed: readonly AccountOwed[] | null): Page {
  const { accounts, now } = health;
  const listed = byTrouble(accounts);
  const sums = new Map<string, string[]>();
  for (const { account, currency, outstanding } of owed ?? [])
    if (outstanding.value !== 0)
      sums.set(account, [...(sums.get(account) ?? []), `${owedText(outstanding, currency)} ${currency}`]);
  const content = html`<main id="main">
      ${verdict(health)} ${total(accounts, owed)}
      <section aria-labelledby="accounts-title">
        <h2 id="accounts-title">Accounts</h2>
        <label for="account-filter" class="unseen">Find an account by its id or state</label>
        <input
          type="search"
          id="account-filter"
          data-own
          placeholder="Account by id or state"
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

const causesShown = 10;

function verdict(health: Health): Html {
  const { accounts, facts, process, installation } = health;
  const served = accounts.filter(({ isServed }) => isServed);
  const all = counted(served.length, 'account');
  const filling = served.filter((account) => stateOf(account).tone === 'busy').length;
  const wrong = served.filter(({ verdict: { isCorrect } }) => !isCorrect).length - filling;
  const noted = served.filter(({ problems }) => problems.length > 0).length;
  const shown: readonly Tone[] = [...process, ...installation, ...served.map(stateOf)].map((each) => each.tone);
  const tone = toneOrder.find((one) => shown.includes(one)) ?? 'good';
  const words =
    served.length === 0
      ? 'No account is served.'
      : wrong > 0
        ? `Of ${all}, ${count(wrong)} ${wrong === 1 ? 'is' : 'are'} not correct.`
        : filling > 0
          ? `Of ${all}, ${count(filling)} ${filling === 1 ? 'is' : 'are'} read for the first time.`
          : noted > 0
            ? `${allCorrect(served.length)}; ${count(noted)} ${noted === 1 ? 'needs' : 'need'} attention.`
            : `${allCorrect(served.length)}.`;
  return html`<section id="verdict" class="verdict ${tone}">
    <h1 aria-live="polite">${words}</h1>
    ${causeTexts(health)
      .slice(0, causesShown)
      .map((text) => html`<p class="detail">${sentence(text)}</p>`)}
    <p class="meaning">
      ${upTo(served, health.now)} ${nextReconciliation(health)}The mirror is <code>${facts.database}</code>.
    </p>
  </section>`;
}

function allCorrect(served: number): string {
  if (served === 1) return 'The only account that is served is correct';
  return served === 2 ? 'Both accounts are correct' : `All ${count(served)} accounts are correct`;
}

/** Up to when every change of all accounts is here; nothing where that is not known of each. */
function upTo(served: readonly AccountHealth[], now: number): Html | null {
  const [oldest] = served.map(({ asOf }) => asOf ?? '').sort();
  return oldest ? html`Every change up to ${clockTime(now, oldest)}, ${ago(now, oldest)}, is here. ` : null;
}

function total(accounts: readonly AccountHealth[], owed: readonly AccountOwed[] | null): Html {
  const currencies = owedInAll(owed ?? []);
  return html`<section id="contents" aria-labelledby="contents-title">
    <h2 id="contents-title">Owed in all accounts</h2>
    <div class="pair">
      <div>
        ${
          currencies.length > 0
            ? owedTable('Owed to active vendors', currencies)
            : html`<p class="soft">
                ${owed === null ? 'What is owed is being calculated.' : 'Nothing is known to be owed to active vendors.'}
              </p>`
        }
      </div>
      ${vendorTiles(
        accounts.flatMap(({ facts: { counts } }) => counts),
        html`<a href="./vendors">Browse the vendors of all accounts</a>`,
      )}
    </div>
  </section>`;
}

function row(health: AccountHealth, sums: readonly string[], now: number): Html {
  const { account, counts } = health.facts;
  const { tone, words } = stateOf(health);
  return html`<tr id="account-${account}">
    <th scope="row"><a href="./?account=${account}">${account}</a></th>
    <td><span class="dot ${tone}"></span> ${words}</td>
    <td class="number" data-name="Active vendors:">${count(vendorCounts(counts).active)}</td>
    <td class="number" data-name="Owed:">
      ${sums.map((sum, at) => html`${at > 0 ? html`<br />` : null}<bdi>${sum}</bdi>`)}
    </td>
    <td class="moment" data-name="As of:">${ago(now, health.asOf)}</td>
  </tr>`;
}
