/** Everything that the dashboard shows of one account; cheap, however large the mirror is. */
import type { Clock } from '../../domain/clock.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import { deliveryMoments } from './received-deliveries.ts';
import { accountSummaries, type AccountSummary } from './account-reports.ts';
import { webhookDays, type WebhookDays } from './webhook-days.ts';

export interface AccountState extends AccountSummary {
  /** When the oldest open mark was made; null where the queue is empty. */
  readonly oldestMark: string | null;
  /** When the last signed delivery came; null if none ever did. */
  readonly lastDelivery: string | null;
  readonly days: WebhookDays;
}

/** How many runs of an account are shown. */
const latestRuns = 8;

/** Prepares the states of accounts; undefined for an unknown account. */
export function accountStates(
  sqlite: Sqlite,
  clock: Pick<Clock, 'now'>,
): (accountId: string) => AccountState | undefined {
  const summary = accountSummaries(sqlite, latestRuns);
  const moments = deliveryMoments(sqlite);
  const days = webhookDays(sqlite);
  return (accountId) => {
    const found = summary(accountId);
    return found && { ...found, ...moments(accountId), days: days(accountId, clock.now()) };
  };
}
