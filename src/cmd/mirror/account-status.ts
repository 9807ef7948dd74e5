/** The status of an account: its vendors, its deliveries, and what could not be read. */
import type { Snapshot } from '../../store/sqlite/query.ts';
import { receivedDeliveriesOf, type ReceivedDeliveries } from '../../store/reports/received-deliveries.ts';
import { parkedReasons, type ParkedReason } from '../../store/reports/parked.ts';
import { accountReports, type AccountReport } from '../../store/reports/account-reports.ts';

export interface AccountStatus extends AccountReport {
  readonly receivedDeliveries: ReceivedDeliveries;
  readonly parkedFor: readonly ParkedReason[];
}

/** Of every account of the mirror, or of one; with its `latest` runs. */
export function accountStatuses(snapshot: Snapshot, account: string | undefined, latest: number): AccountStatus[] {
  const receivedDeliveries = receivedDeliveriesOf(snapshot);
  const parkedFor = parkedReasons(snapshot);
  return accountReports(snapshot, account, latest).map((report) => ({
    ...report,
    receivedDeliveries: receivedDeliveries(report.account),
    parkedFor: parkedFor(report.account),
  }));
}
