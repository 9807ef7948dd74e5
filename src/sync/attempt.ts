/**
 * Attempts at marks: reads a marked vendor, and does with its mark what the retry policy says; open marks in a run, and those that were
 * parked.
 *
 * Several deliveries for one vendor that are answered by one reading are followed by a second look, even if the reading brought something
 * new.
 */
import { sleep } from '../domain/clock.ts';
import { eachBounded } from '../domain/concurrency.ts';
import { asMirrorError } from '../domain/errors.ts';
import { nextStep, secondLookDelay, type NextStep, type Result } from '../domain/retry.ts';
import { isNews, type Verdict } from '../store/acceptance.ts';
import type { OpenDelivery, ParkedDeliveries } from '../store/deliveries.ts';
import type { Mark } from '../store/queue.ts';
import type { SweepContext } from '../store/reading-writer.ts';
import type { Observation, ObservationOptions } from './observation.ts';
import type { IdSet } from './sweep/id-set.ts';
import type { ReadOptions, ReadResult, SyncAccount } from './sync-account.ts';

export interface AttemptOptions extends ReadOptions {
  readonly onVerdict?: (verdict: Verdict) => void;
}

export interface SweepAttemptOptions extends AttemptOptions {
  readonly context: SweepContext;
  readonly onVerdict: (verdict: Verdict) => void;
}

/** The options for reads by id within a run: in the background, and counted for the run. */
export function attemptOptionsOf({ context, counter, signal }: ObservationOptions): SweepAttemptOptions {
  return {
    context,
    signal,
    priority: 'background',
    onRequest: () => counter.addRequest(),
    onVerdict: (verdict) => counter.addVerdict(verdict),
  };
}

/**
 * Reads the vendor of a mark, and settles, defers or parks the mark.
 * @param openDeliveries the vendor's, just now
 * @throws the signal's reason when it is aborted.
 */
export async function processMark(
  account: SyncAccount,
  mark: Mark,
  openDeliveries: readonly OpenDelivery[],
  options: AttemptOptions,
): Promise<void> {
  const { log, accountId } = account;
  const { vendorid, attempts, reason } = mark;
  log.debug({ account: accountId, vendorid, attempts, reason }, 'a marked vendor is read');
  const found = await tryRead(account, vendorid, options);
  if (found.kind === 'record') options.onVerdict?.(found.verdict);
  await finishAttempt(account, mark, resultOf(account, found, openDeliveries), openDeliveries);
}

/** Reads a vendor; an error becomes a `refused` result. @throws as `processMark`. */
export async function tryRead({ reader }: SyncAccount, vendorid: number, options: AttemptOptions): Promise<ReadResult> {
  try {
    return await reader.read(vendorid, options);
  } catch (error) {
    if (options.signal.aborted) throw error;
    return { kind: 'refused', error: asMirrorError(error) };
  }
}

/** Settles, defers or parks a mark by the retry policy. @param openDeliveries deliveries that had come before the reading */
async function finishAttempt(
  { accountId, mirror, sync, log }: SyncAccount,
  mark: Mark,
  result: Result,
  openDeliveries: readonly OpenDelivery[] = [],
): Promise<void> {
  const step = nextStep(mark, result, secondLookDelay(sync));
  const { vendorid } = mark;
  log.debug({ account: accountId, vendorid, showed: result.kind, ...stepFacts(step) }, `the mark: ${step.kind}`);
  switch (step.kind) {
    case 'keep':
      return;
    case 'park':
      return mirror.queue.park(mark, step.error);
    case 'settle':
    case 'defer': {
      const changed = await (step.kind === 'settle'
        ? mirror.queue.settle(mark, step.outcome)
        : mirror.queue.defer(mark, step.deferral, step.outcome));
      // The vendor was marked again: the new mark stays, but the deliveries before the reading are settled.
      if (!changed && step.outcome === 'applied') await mirror.queue.settleDeliveries(mark, openDeliveries);
    }
  }
}

/** What becomes of a mark, for the log. */
function stepFacts(step: NextStep): object {
  switch (step.kind) {
    case 'keep':
      return {};
    case 'park':
      return { error: step.error };
    case 'settle':
      return { outcome: step.outcome };
    case 'defer': {
      const { delay, attempts, error } = step.deferral;
      return { delay: Math.round(delay), attempts, ...(error !== null && { error }) };
    }
  }
}

function resultOf({ random }: SyncAccount, found: ReadResult, openDeliveries: readonly OpenDelivery[]): Result {
  if (found.kind === 'absent') return { kind: 'absent' };
  if (found.kind === 'refused') return { kind: 'refused', error: found.error.message, fraction: random.fraction() };
  if (found.verdict.kind === 'guarded') return { kind: 'guarded' };
  return isNews(found.verdict) ? { kind: 'news', deliveries: openDeliveries.length } : { kind: 'nothing_new' };
}

/** What a run does with open marks: it reads their vendors, or, where there are no reads by id, its complete sweep settles them. */

/** Rounds of reading vendors that were guarded; those that still change stay in the queue. */
const rounds = 3;

/** How long a run waits at most until a guarded vendor may be read again, in milliseconds. */
const longestWait = 60_000;

/** Settles marks that were made before a complete sweep began, by what it showed. */
export async function settleMarks(
  account: SyncAccount,
  marks: readonly Mark[],
  { seen, news }: Pick<Observation, 'seen' | 'news'>,
): Promise<void> {
  for (const mark of marks) {
    if (!seen.has(mark.vendorid)) await finishAttempt(account, mark, { kind: 'absent' });
    else if (!news.has(mark.vendorid)) await finishAttempt(account, mark, { kind: 'nothing_new' });
    else {
      const { length: deliveries } = await account.mirror.queue.openDeliveries(mark);
      await finishAttempt(account, mark, { kind: 'news', deliveries });
    }
  }
}

/**
 * Reads marked vendors that are due now or within `sync.lag`, or within a minute where copies were seen to be older. Later ones are left to
 * the worker or the next run.
 * @returns notes for the run report.
 */
export async function readMarked(account: SyncAccount, options: AttemptOptions): Promise<string[]> {
  const { mirror, accountId, sync, clock } = account;
  for (let round = 0; round < rounds; round++) {
    const wait = await mirror.queue.untilNextMark(accountId);
    if (wait === undefined || wait > Math.min(sync.lag, longestWait)) return [];
    await sleep(clock, wait, options.signal);
    await eachBounded(await mirror.queue.dueMarks(accountId), account.concurrency, async (mark) =>
      processMark(account, mark, await mirror.queue.openDeliveries(mark), options),
    );
  }
  const left = await mirror.queue.countMarks(accountId);
  if (left === 0) return [];
  return [
    left === 1
      ? 'One vendor is still changing and waits to be read again.'
      : `${left} vendors are still changing and wait to be read again.`,
  ];
}

/** Parked marks: a reconciliation retries them, and settles deliveries whose vendor it does not find either. */

/** Marks parked vendors again. @returns the deliveries that were parked before. */
export async function markParkedAgain({ mirror, accountId }: SyncAccount): Promise<ParkedDeliveries[]> {
  const parked = await mirror.queue.parkedMarks(accountId);
  await mirror.queue.markVendors(
    accountId,
    parked.map(({ vendorid }) => vendorid),
    'reconcile',
    0,
  );
  return mirror.queue.parkedDeliveries(accountId);
}

/**
 * Settles deliveries that were parked before the sweep began and whose vendor neither the list nor a read shows. The marks alone would not
 * end them, because each further delivery for the same id defers the mark.
 */
export async function settleParked(
  account: SyncAccount,
  parked: readonly ParkedDeliveries[],
  seen: IdSet,
  /** Undefined where there are no reads by id. */
  options: AttemptOptions | undefined,
): Promise<void> {
  if (parked.length === 0) return;
  const { mirror, accountId, concurrency } = account;
  const open = new Set((await mirror.queue.parkedDeliveries(accountId)).map(({ vendorid }) => vendorid));
  const left = parked.filter(({ vendorid }) => open.has(vendorid) && !seen.has(vendorid));
  await eachBounded(left, concurrency, async (deliveries) => {
    if (options) {
      const found = await tryRead(account, deliveries.vendorid, options);
      if (found.kind === 'record') options.onVerdict?.(found.verdict);
      if (found.kind !== 'absent') return;
    } else if (seen.size === 0) return;
    await mirror.queue.settleParkedDeliveries(accountId, deliveries);
  });
}
