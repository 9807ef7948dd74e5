/** A first day: how far the first pull has come, and what will stand on the page after it. */
import { parseInstant } from '../../domain/clock.ts';
import { inWords } from '../../domain/duration.ts';
import type { AccountFacts } from '../../health/judge.ts';
import type { ReportedRun } from '../../store/runs.ts';
import { count, html, type Html } from './html.ts';

/** Whether there is little else to show yet: a first pull is under way, or nothing was ever read. */
export function isFirstDay({ freshness, runs, counts }: AccountFacts): boolean {
  return freshness.last_complete_sweep === null && (counts.length === 0 || runs.some(isRunning));
}

export function firstDaySection({ progress, runs }: AccountFacts, now: number): Html {
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
