/** The targets of outgoing webhooks as people see them: those of the settings, and those that the mirror still knows. */
import { deliveryState, type DeliveryState } from '../../admin/health/target-health.ts';
import { lagOf, type TargetReport } from '../../store/outbox/outbox-report.ts';
import type { Settings } from '../../settings/parse.ts';

export interface TargetStatus extends TargetReport {
  readonly state: DeliveryState | 'not begun' | 'not in the settings';
  readonly lag_seconds: number;
}

export function targetStatuses(
  { notify }: Pick<Settings, 'notify'>,
  reports: readonly TargetReport[],
  now: number,
): TargetStatus[] {
  const named = notify.map(({ name }) => name);
  const known = reports.map((report) => ({
    ...report,
    state: named.includes(report.target) ? deliveryState(report) : ('not in the settings' as const),
    lag_seconds: lagOf(report, now) / 1_000,
  }));
  const others = named.filter((name) => !reports.some(({ target }) => target === name));
  return [...known, ...others.map(notBegun)];
}

function notBegun(target: string): TargetStatus {
  const never = { began_at: '', delivered_at: null, failing_since: null, last_error: null, disabled_at: null };
  return {
    ...{ target, ...never, waiting: 0, parked: 0, parked_error: null, behind: 0, oldest_waiting: null },
    state: 'not begun',
    lag_seconds: 0,
  };
}
