/**
 * The first page, of one account. What a clerk asks comes first: is it right, what is owed, whom most, what changed. How the mirror is
 * kept follows, folded: webhooks, runs, gateways, receivers, copies. At the end stands what a person may ask the daemon to do; where there is
 * nothing to be asked, why. On a first day, the page says how far the first pull has come, and what will stand here after it.
 */
import { timestamp, parseInstant } from '../../domain/clock.ts';
import { sizeInWords, counted } from '../../domain/size.ts';
import type { Figures } from '../../store/reports/figures.ts';
import { daemonWords } from '../../health/daemons.ts';
import { sentenceOf, type AccountHealth, type Health, type Tone, type AccountFacts } from '../../health/judge.ts';
import { contentsSection, historySection, payablesSection } from './contents-section.ts';
import { page, type Page, ago, clockTime, count, html, sentence, type Html, namedValues } from './html.ts';
import { eventSection, gatewaySection, runSection } from './event-section.ts';
import { publicationSection, targetSection, webhookSection } from './webhook-section.ts';
import { inWords } from '../../domain/duration.ts';
import type { ReportedRun } from '../../store/runs.ts';
import { noTokenMessage } from '../api/actions-api.ts';

/** So many accounts are a click away from each other; of more, the list of all is. */
const maxListed = 12;

export interface OverviewOptions {
  readonly account: string;
  /** Null while they are worked out. */
  readonly figures: Figures | null;
  /** Whether people may ask the daemon to do something. */
  readonly mayAct: boolean;
}

/** The account that a page is about: the wanted one, or the only one; undefined where there is none, `all` where nobody chose. */
export function chosenAccount({ accounts }: Health, wanted: string | undefined): AccountHealth | 'all' | undefined {
  if (wanted !== undefined) return accounts.find(({ facts }) => facts.account === wanted);
  return accounts.length > 1 ? 'all' : accounts[0];
}

/** Where an address names an account that is not here. */
export function noAccountPage(account: string, now: number): Page {
  const content = html`<main id="main">
    <section>
      <h1>The mirror holds no account “<bdi>${account}</bdi>”.</h1>
      <p><a href="./">All accounts</a></p>
    </section>
  </main>`;
  return page({ title: 'No such account', root: './', now, content });
}

/** At any depth. Its links are relative, as those of all pages: a proxy may serve them below a folder. */
export function noSuchPage(path: string, now: number): Page {
  const root = '../'.repeat(path.split('/').length - 2) || './';
  const content = html`<main id="main">
    <section>
      <h1>There is no such page.</h1>
      <p>
        <a href="${root}">The mirror at a glance</a> shows whether it is right and what is owed;
        <a href="${root}vendors">all vendors</a> can be browsed.
      </p>
    </section>
  </main>`;
  return page({ title: 'No such page', root, now, content });
}

export function overview(health: Health, options: OverviewOptions): Page {
  const { now, facts } = health;
  const chosen = health.accounts.find(({ facts: { account } }) => account === options.account);
  if (!chosen) {
    const content = html`<main id="main">
      <section class="verdict fair"><h1>No account is served.</h1></section>
    </main>`;
    return page({ title: 'No account', root: './', now, content });
  }
  const { figures, mayAct } = options;
  const { tone, words } = chosen.verdict;
  const isFirst = isFirstDay(chosen.facts);
  const content = html`<main id="main">
      ${accountList(health, chosen)} ${verdict(chosen, health)} ${isFirst ? firstDaySection(chosen.facts, now) : null}
      ${contentsSection(chosen.facts, figures, now)}
      ${
        isFirst || figures === null
          ? null
          : [
              payablesSection(chosen.facts.account, figures, now),
              eventSection(chosen.facts.account, figures, now),
              historySection(figures),
            ]
      }
      ${mayAct ? actionSection(chosen, true) : null} ${webhookSection(chosen, figures, now)}
      ${runSection(chosen.facts.runs, now)} ${figures === null || isFirst ? null : gatewaySection(figures, now)}
      ${targetSection(facts.targets, now)} ${publicationSection(facts.publications, now)}
      ${mayAct ? null : actionSection(chosen, false)}
    </main>
    ${footer(facts, now)}`;
  return page({ title: chosen.isServed ? titles[tone] : words, root: './', now, content });
}

const titles: Readonly<Record<Tone, string>> = {
  good: 'Correct',
  fair: 'Correct, needs attention',
  bad: 'Needs attention',
  busy: 'First pull',
};

function accountList({ accounts }: Health, chosen: AccountHealth): Html | null {
  if (accounts.length < 2) return null;
  return html`<nav id="accounts" aria-label="Accounts">
    <ul>
      <li><a href="./">${accounts.length === 2 ? 'Both' : `All ${count(accounts.length)}`} accounts</a></li>
      ${(accounts.length > maxListed ? [chosen] : accounts).map((account) => {
        const { tone, words } = account.verdict;
        const { account: id } = account.facts;
        return html`<li>
          <a href="./?account=${id}" aria-current="${account === chosen ? 'page' : 'false'}" title="${words}"
            ><span class="dot ${tone}"></span> ${id}</a
          >
        </li>`;
      })}
    </ul>
  </nav>`;
}

function verdict({ facts, verdict: found, problems, asOf }: AccountHealth, health: Health): Html {
  const { now, process, installation } = health;
  const { tone, words, since, isCorrect } = found;
  const moment = isCorrect ? asOf : since;
  const when =
    moment === null
      ? '.'
      : html`${isCorrect ? ' as of' : ', since'} <strong>${clockTime(now, moment)},</strong> ${ago(now, moment)}.`;
  const upTo =
    asOf === null
      ? null
      : html`${
          isCorrect
            ? 'Every change up to then is here.'
            : html`Every change up to ${clockTime(now, asOf)}, ${ago(now, asOf)}, is here.`
        }
        Last complete sweep ${ago(now, facts.freshness.last_complete_sweep)}. `;
  return html`<section id="verdict" class="verdict ${tone}">
    <p class="account">Account <b>${facts.account}</b></p>
    <h1 aria-live="polite">${words}${when}</h1>
    ${[...process, ...problems, ...installation]
      // How far it is stands in a section of its own.
      .filter(({ code }) => code !== 'first_pull')
      .map((problem) => html`<p class="detail">${sentence(withoutHeadline(sentenceOf(problem), words))}</p>`)}
    <p class="meaning">${upTo}${nextReconciliation(health)}The mirror is <code>${health.facts.database}</code>.</p>
  </section>`;
}

/** A cause without the words and the code with which it repeats the headline above it, as in “The service refuses access (unauthenticated). …”. */
function withoutHeadline(cause: string, headline: string): string {
  return cause.startsWith(`${headline} (`) ? cause.replace(/^.*?\)\. /, '') : cause;
}

/** When the next one begins, as a sentence; null where all are under way. */
export function nextReconciliation({ facts, now }: Health): Html | null {
  const { reconcile } = facts.next;
  return reconcile === undefined ? null : html`Next reconciliation ${ago(now, timestamp(reconcile))}. `;
}

export function footer({ version, startedAt, files, next, serving, ability }: Health['facts'], now: number): Html {
  const due = (moment: number | undefined): Html | string =>
    moment === undefined ? 'under way' : ago(now, timestamp(moment));
  // Only the daemon that works knows.
  const isKnown = ability.work === null || ability.work.isHere;
  const entries: readonly (readonly [string, Html | string])[] = [
    ...(isKnown
      ? ([
          ['Next reconciliation', due(next.reconcile)],
          ['Next full pull', due(next.pull)],
        ] as const)
      : []),
    ['Started', startedAt === null ? 'not running' : ago(now, timestamp(startedAt))],
    ['Database', sizeInWords(files.databaseBytes)],
    ['Version', version],
    ...(serving === null
      ? []
      : ([
          ['Daemons', html`${serving.map((each) => html`<span class="line">${sentence(daemonWords(each))}</span>`)}`],
        ] as const)),
  ];
  return html`<footer id="footer">
    <dl>${namedValues(entries)}</dl>
    <nav aria-label="For programs">
      <a href="./api/status">status</a> <a href="./metrics">metrics</a> <a href="./readyz">readiness</a>
    </nav>
  </footer>`;
}

/** Whether there is little else to show yet: a first pull is under way, or nothing was ever read. */
function isFirstDay({ freshness, runs, counts }: AccountFacts): boolean {
  return freshness.last_complete_sweep === null && (counts.length === 0 || runs.some(isRunning));
}

function firstDaySection({ progress, runs }: AccountFacts, now: number): Html {
  const running = runs.find(isRunning);
  const promises = html`<ul class="plain">
    <li>As soon as the list is read: whom you owe most, what is overdue most, and how fresh it all is.</li>
    <li>From the next change on: what changed, when, and by whom.</li>
    <li>From tomorrow on: what is owed in each currency over time.</li>
  </ul>`;
  if (running === undefined)
    return html`<section id="first-day" aria-labelledby="first-day-title">
      <h2 id="first-day-title">What will stand here</h2>
      ${promises}
    </section>`;
  return html`<section id="first-day" aria-labelledby="first-day-title">
    <h2 id="first-day-title">What is being read</h2>
    ${bar(progress, running.started_at, now)}
    <p class="soft">
      The list of all vendors. What is read so far is correct and can be queried already: every vendor is whole, and
      some are not here yet.
    </p>
    <h3>What will stand here</h3>
    ${promises}
  </section>`;
}

const isRunning = ({ outcome }: ReportedRun): boolean => outcome === 'running';

function bar(progress: AccountFacts['progress'], since: string, now: number): Html {
  const { seen = 0, total = 0 } = progress ?? {};
  // Some services count nothing, or fewer than they show.
  if (total === 0 || seen > total) return html`<p class="today">${count(seen)} vendors so far.</p>`;
  const left = timeLeft({ seen, total }, since, now);
  return html`<p class="today">
    <progress max="${total}" value="${seen}" aria-label="Vendors that are read">${count(seen)}</progress>
    ${count(seen)} of ${count(total)} vendors so far${left === undefined ? '' : `, about ${inWords(left)} left`}.
  </p>`;
}

/** How many milliseconds the rest takes if it goes on as it did; undefined while that cannot be said. */
function timeLeft(
  { seen, total }: { readonly seen: number; readonly total: number },
  since: string,
  now: number,
): number | undefined {
  const begun = parseInstant(since);
  const spent = begun === undefined ? 0 : now - begun;
  if (spent < leastSpent || seen === 0) return undefined;
  return Math.max(1_000, (spent / seen) * (total - seen));
}

/** Before this, nobody can say how long it takes, in milliseconds. */
const leastSpent = 3_000;

interface Button {
  readonly action: 'sync' | 'reconcile' | 'retry' | 'approve';
  readonly name: string;
  /** What the action does, shown in its confirmation. */
  readonly words: string;
  /** A number that the person has to confirm, too. */
  readonly number?: number;
}

function actionSection(health: AccountHealth, mayAct: boolean): Html | null {
  const { account, isLeft } = health.facts;
  if (isLeft) return null;
  return html`<section id="actions" aria-labelledby="actions-title">
    <h2 id="actions-title">Actions</h2>
    ${
      !health.isServed
        ? html`<p class="soft">${sentence(`Paused: \`vendor-mirror accounts resume ${account}\` comes first.`)}</p>`
        : mayAct
          ? html`<p class="buttons">${buttonsOf(health).map((button) => buttonHtml(button, account))}</p>
              <p id="outcome" role="status" data-own></p>`
          : html`<p class="soft">${sentence(noTokenMessage)}</p>`
    }
  </section>`;
}

function buttonHtml({ action, name, words, number }: Button, account: string): Html {
  return html`<button
    type="button"
    id="ask-${action}"
    data-action="${action}"
    data-account="${account}"
    data-words="${words}"
    data-number="${number ?? ''}"
  >
    ${name}
  </button>`;
}

/** What helps only sometimes is offered only then. */
function buttonsOf({ facts, error }: AccountHealth): Button[] {
  const { account, queue, findings, runs } = facts;
  const isTripped = error?.code === 'breaker_tripped' || findings.some(({ kind }) => kind === 'breaker');
  const absent = (error?.run ?? runs[0])?.suspects ?? 0;
  return [
    {
      action: 'reconcile',
      name: 'Reconcile now',
      words: `Reads the whole list of ${account} and records every difference. Nothing is written to the service.`,
    },
    {
      action: 'sync',
      name: 'Pull everything now',
      words: `Reads the whole list of ${account}. Nothing is written to the service.`,
    },
    ...(queue.parked > 0
      ? [
          {
            action: 'retry',
            name: 'Retry parked vendors',
            words: `Reads ${counted(queue.parked, 'vendor')} of ${account} again that could not be read.`,
          } as const,
        ]
      : []),
    ...(isTripped
      ? [
          {
            action: 'approve',
            name: 'Approve absences',
            words: `The list of ${account} does not show many vendors that the mirror holds. Check the service first. Then up to this many are marked gone, if reading each one confirms it.`,
            number: Math.max(1, absent),
          } as const,
        ]
      : []),
  ];
}
