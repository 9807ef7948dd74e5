/** A sweep that a run may rely on: proven complete, and with only usable records. */
import { sleep } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import type { SyncAccount } from '../account/sync-account.ts';
import { inFlightTime } from '../observe/classify-change.ts';
import { observe, type Observation, type ObservationOptions } from '../observe/observation.ts';
import type { Complete } from '../sweep/passes.ts';
import type { Run } from '../../store/records/run-record.ts';
import type { Finding } from '../../store/records/finding-record.ts';

export type CompleteObservation = Observation & { readonly conclusion: Complete };

/**
 * Sweeps the default list. The very first list of an account may be empty by a fault: it is swept twice. Vendors that were read by id before
 * need not contradict it, because they may be deleted or archived.
 */
export async function observeList(account: SyncAccount, options: ObservationOptions): Promise<Observation> {
  const { mirror, accountId, clock, sync } = account;
  const observation = await observe(account, options);
  const { conclusion } = observation;
  const isFirst = conclusion.complete && conclusion.shown === 0 && !(await mirror.runs.lastComplete(accountId));
  if (!isFirst) return observation;
  await sleep(clock, sync.lag, options.signal);
  return observe(account, options);
}

/** Checks that a sweep is complete. @throws MirrorError `record_rejected`, after storing findings, and `sweep_incomplete`. */
export async function requireComplete(
  { mirror }: SyncAccount,
  run: Run,
  observation: Observation,
): Promise<CompleteObservation> {
  const { conclusion } = observation;
  const rejected = [...observation.rejected, ...observation.unusable.values()];
  if (rejected.length > 0) {
    const findings = rejected.map((reason): Finding => ({
      kind: 'record_rejected',
      vendorid: null,
      fields: { reason },
    }));
    await mirror.findings.addFindings(run, findings);
    const records = rejected.length === 1 ? 'One record' : `${rejected.length} records`;
    throw new MirrorError('record_rejected', `${records} of the list cannot be used: ${String(rejected[0])}`);
  }
  if (!conclusion.complete)
    throw new MirrorError('sweep_incomplete', `The sweep could not be proven complete: ${conclusion.why}.`);
  return { ...observation, conclusion };
}

/**
 * Stores findings about the list as a whole: its fields, its count, and changes that no delivery announced in time.
 * @returns notes for the run report.
 */
export async function reportList(
  account: SyncAccount,
  run: Run,
  { fields, conclusion }: CompleteObservation,
): Promise<string[]> {
  const { mirror, accountId, clock } = account;
  await mirror.findings.reportFields(run, fields);
  await mirror.findings.promoteFindings(accountId, clock.now() - inFlightTime);
  const { unreadable, shown } = conclusion;
  if (unreadable === 0) return [];
  const finding: Finding =
    unreadable > 0
      ? { kind: 'unreadable', vendorid: null, fields: { rows: unreadable } }
      : { kind: 'count_mismatch', vendorid: null, fields: { shown, counted: shown + unreadable } };
  await mirror.findings.addFindings(run, [finding]);
  return [
    unreadable > 0
      ? `The service counts ${unreadable} more vendors than it shows.`
      : `The service shows ${-unreadable} more vendors than it counts.`,
  ];
}

/** @throws MirrorError `sweep_incomplete` where the list is empty but the mirror holds active vendors. */
export async function refuseEmptyList({ mirror, accountId }: SyncAccount, { shown }: Complete): Promise<void> {
  if (shown === 0 && (await mirror.vendors.newestActive(accountId)).length > 0)
    throw new MirrorError(
      'sweep_incomplete',
      'The service returned an empty list, but the mirror holds active vendors.',
    );
}
