/** A first day: how far the first pull has come, and what will stand on the page after it. */
import { parseInstant } from '../../domain/clock.ts';
import { inWords } from '../../domain/duration.ts';
import type { AccountFacts } from '../../health/judge.ts';
import { count, html, type Html } from './html.ts';

/** Whether a first pull is under way: then the page has little else to show. */
export function isFirstPull({ freshness, runs }: Pick<AccountFacts, 'freshness' | 'runs'>): boolean {
  return freshness.last_complete_sweep === null && runs.some(({ outcome }) => outcome === 'running');
}

export function firstPullSection({ progress, runs }: AccountFacts, now: number): Html {
  const running = runs.find(({ outcome }) => outcome === 'running');
  return html`<section id="first-pull" aria-labelledby="first-pull-title">
    <h2 id="first-pull-title">What is being read</h2>
    ${bar(progress, running?.started_at, now)}
    <p class="soft">
      The list of all vendors. What is read so far is correct and can be queried already: every vendor is whole, and
      some are not here yet.
    </p>
    <h3>What will stand here</h3>
    <ul class="plain">
      <li>As soon as the list is read: whom you owe most, what is overdue most, and how fresh it all is.</li>
      <li>From the next change on: what changed, when, and by whom.</li>
      <li>From tomorrow on: what is owed in each currency over time.</li>
    </ul>
  </section>`;
}

function bar(progress: AccountFacts['progress'], since: string | undefined, now: number): Html {
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
  since: string | undefined,
  now: number,
): number | undefined {
  const begun = parseInstant(since ?? '');
  const spent = begun === undefined ? 0 : now - begun;
  if (spent < leastSpent || seen === 0) return undefined;
  return Math.max(1_000, (spent / seen) * (total - seen));
}

/** Before this, nobody can say how long it takes, in milliseconds. */
const leastSpent = 3_000;
