/** Sweeps that deliveries ask for: when they begin, and which deliveries they answer. */
import type { Engine } from '../account/engine.ts';
import type { Observation } from '../observe/observation.ts';
import { secondLookDelay } from '../queue/retry-policy.ts';
import type { IdSet } from '../sweep/id-set.ts';
import type { SweepAnswer, SweepRequest } from '../../store/records/sweep-record.ts';

/** The shortest rest between two sweeps that were asked for, in milliseconds; a longer sweep rests as long as it took. */
const shortestPause = 60_000;

/** How old a request must be when a sweep begins that answers it: before, lists may not show yet what it is about. */
function settlingTime({ sync }: Pick<Engine, 'sync'>): number {
  return secondLookDelay(sync);
}

/**
 * Milliseconds until a sweep shall begin for this request, at that moment of mirror time: when the last one that asked is old enough, so
 * that one sweep answers a burst; where they never end, when the first one is twice as old.
 */
export function untilDue(engine: Pick<Engine, 'sync'>, request: SweepRequest, moment: number): number {
  const { askedMs, lastMs, restUntilMs } = request;
  const due = Math.min(lastMs + settlingTime(engine), askedMs + 2 * settlingTime(engine));
  return Math.max(0, due - moment, restUntilMs - moment);
}

/** An open request, as a sweep finds it when it begins. */
export interface OpenRequest {
  readonly request: SweepRequest;
  /** Mirror time. */
  readonly moment: number;
}

export async function openRequest({ mirror, accountId }: Engine): Promise<OpenRequest | undefined> {
  const request = await mirror.sweepRequests.sweepRequest(accountId);
  return request && { request, moment: mirror.moment() };
}

/** Answers the request that was open when a sweep began, which was complete and showed these. */
export async function finishRequest(
  engine: Engine,
  { request, moment }: OpenRequest,
  { seen, news }: { readonly seen: IdSet; readonly news: Observation['news'] },
): Promise<void> {
  const { mirror, accountId } = engine;
  const upToMs = moment - settlingTime(engine);
  // Counted from the request: our clock may have been set since, mirror time was not.
  const upTo = request.askedAt + upToMs - request.askedMs;
  const answer: SweepAnswer = { generation: request.generation, upToMs, upTo, restUntilMs: restUntil(engine, moment) };
  const { lastDelivery } = request;
  const answered = { lastDelivery, upTo: request.lastMs <= upToMs ? undefined : upTo };
  let room = true;
  while (room) {
    const vendors = await mirror.sweepRequests.unmarkedVendors(accountId, answered);
    if (vendors.length === 0) return mirror.sweepRequests.finishSweepRequest(accountId, answer);
    room = await mirror.sweepRequests.settleUnmarked(
      accountId,
      vendors.map((vendor) => ({ ...vendor, outcome: outcomeOf(vendor.vendorid, seen, news) })),
    );
  }
  // What no list shows, and the queue cannot hold yet, is asked for again.
  await mirror.sweepRequests.postponeSweepRequest(accountId, answer.restUntilMs);
}

/** Puts off the next sweep for a request, after one that came to nothing. */
export async function postponeRequest(engine: Engine, { moment }: OpenRequest): Promise<void> {
  await engine.mirror.sweepRequests.postponeSweepRequest(engine.accountId, restUntil(engine, moment));
}

function restUntil({ mirror }: Engine, began: number): number {
  const moment = mirror.moment();
  return moment + Math.max(shortestPause, moment - began);
}

function outcomeOf(vendorid: number, seen: IdSet, news: Observation['news']): 'applied' | 'unchanged' | 'unseen' {
  if (!seen.has(vendorid)) return 'unseen';
  return news.has(vendorid) ? 'applied' : 'unchanged';
}
