/** Sweeps that deliveries request: when they are due, and which deliveries they settle. */
import type { SyncAccount } from '../account/sync-account.ts';
import type { Observation } from '../observe/observation.ts';
import { secondLookDelay } from '../../domain/retry/mark-policy.ts';
import type { IdSet } from '../sweep/id-set.ts';
import type { SweepAnswer, SweepRequest } from '../../store/records/sweep-record.ts';

/** The shortest pause between two requested sweeps, in milliseconds; at least as long as the sweep took. */
const shortestPause = 60_000;

/** How old a request must be when its sweep begins, in milliseconds: before, lists may not show the change yet. */
function settlingTime({ sync }: Pick<SyncAccount, 'sync'>): number {
  return secondLookDelay(sync);
}

/**
 * Milliseconds until the sweep for this request is due, at this moment of mirror time: when the last request is old enough, so that one
 * sweep answers a burst; where requests never stop, when the first is twice as old.
 */
export function untilDue(account: Pick<SyncAccount, 'sync'>, request: SweepRequest, moment: number): number {
  const { askedMs, lastMs, restUntilMs } = request;
  const due = Math.min(lastMs + settlingTime(account), askedMs + 2 * settlingTime(account));
  return Math.max(0, due - moment, restUntilMs - moment);
}

/** A request that was open when a sweep began. */
export interface OpenRequest {
  readonly request: SweepRequest;
  /** Mirror time. */
  readonly moment: number;
}

export async function openRequest({ mirror, accountId }: SyncAccount): Promise<OpenRequest | undefined> {
  const request = await mirror.sweepRequests.sweepRequest(accountId);
  return request && { request, moment: mirror.moment() };
}

/** Finishes the request that was open when a complete sweep began, and settles its deliveries by what the sweep showed. */
export async function finishRequest(
  account: SyncAccount,
  { request, moment }: OpenRequest,
  { seen, news }: { readonly seen: IdSet; readonly news: Observation['news'] },
): Promise<void> {
  const { mirror, accountId } = account;
  const upToMs = moment - settlingTime(account);
  // Relative to the request: our clock may have been set since, mirror time was not.
  const upTo = request.askedAt + upToMs - request.askedMs;
  const answer: SweepAnswer = { generation: request.generation, upToMs, upTo, restUntilMs: restUntil(account, moment) };
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
  // Vendors that no list showed and that do not fit into the queue: the request stays open.
  await mirror.sweepRequests.postponeSweepRequest(accountId, answer.restUntilMs);
}

/** Postpones the next sweep for a request whose sweep failed. */
export async function postponeRequest(account: SyncAccount, { moment }: OpenRequest): Promise<void> {
  await account.mirror.sweepRequests.postponeSweepRequest(account.accountId, restUntil(account, moment));
}

function restUntil({ mirror }: SyncAccount, began: number): number {
  const moment = mirror.moment();
  return moment + Math.max(shortestPause, moment - began);
}

function outcomeOf(vendorid: number, seen: IdSet, news: Observation['news']): 'applied' | 'unchanged' | 'unseen' {
  if (!seen.has(vendorid)) return 'unseen';
  return news.has(vendorid) ? 'applied' : 'unchanged';
}
