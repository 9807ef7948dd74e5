/** Everything that is shown of one account but sums of money, which need a scan of all vendors; cheap, however large the mirror is. */
import type { Clock } from '../../domain/clock.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import { accountSummaries, type AccountSummary } from './account-reports.ts';
import { parkedReasons, type ParkedReason } from './parked.ts';
import { receivedDeliveriesOf, type ReceivedDeliveries } from './received-deliveries.ts';
import { webhookDays, type WebhookDays } from './webhook-days.ts';

export interface AccountState extends AccountSummary, ReceivedDeliveries {
  readonly parkedFor: readonly ParkedReason[];
  readonly days: WebhookDays;
}

/** Of an account of which the mirror holds nothing. */
export function unknownState(account: string): AccountState {
  return {
    account,
    counts: [],
    freshness: {
      last_complete_sweep: null,
      oldest_unsettled_delivery: null,
      open_suspects: 0,
      parked_vendors: 0,
      callback_verified: null,
      safe_as_of: null,
      listed_as_of: null,
      not_served_since: null,
      paused_since: null,
    },
    queue: { waiting: 0, parked: 0 },
    sweepRequest: { asked_at: null, callback_ids: 0, callback_id_at: null },
    failing: null,
    runs: [],
    findings: [],
    callbacks: [],
    refusals: [],
    oldestMark: null,
    lastDelivery: null,
    missedSince: 0,
    parkedFor: [],
    days: [],
  };
}

/** How many runs of an account are shown. */
const latestRuns = 8;

/** Prepares the states of accounts; undefined for an unknown account. */
export function accountStates(
  sqlite: Sqlite,
  clock: Pick<Clock, 'now'>,
): (accountId: string) => AccountState | undefined {
  const summary = accountSummaries(sqlite, latestRuns);
  const received = receivedDeliveriesOf(sqlite);
  const parkedFor = parkedReasons(sqlite);
  const days = webhookDays(sqlite);
  return (accountId) => {
    const found = summary(accountId);
    if (!found) return undefined;
    return {
      ...found,
      ...received(accountId),
      parkedFor: found.queue.parked === 0 ? [] : parkedFor(accountId),
      days: days(accountId, clock.now()),
    };
  };
}
