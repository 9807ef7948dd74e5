/** Absences with a second proof: a read by id proves `gone`, a second complete sweep proves `missing`. */
import type { ReadStamp } from '../../domain/reading.ts';
import type { Absence } from '../../store/decide/verdict.ts';
import type { SweepAttemptOptions } from '../queue/attempt.ts';
import type { SyncAccount } from '../account/sync-account.ts';

/** An absence, and the reading that proved it. */
export interface ProvenAbsence {
  readonly vendorid: number;
  readonly absence: Absence;
  readonly stamp: ReadStamp;
}

/** Marks as gone the vendors for which a read by id proved that the service does not know them. */
export function goneByReading(
  vendorids: readonly number[],
  { absent }: { readonly absent: ReadonlyMap<number, ReadStamp> },
): ProvenAbsence[] {
  return vendorids.flatMap((vendorid) => {
    const stamp = absent.get(vendorid);
    return stamp ? { vendorid, absence: 'gone', stamp } : [];
  });
}

/** Marks as missing vendors that two complete sweeps did not show; `stamp` was taken when the later one began. */
export function missingBySweep(stamp: ReadStamp, vendorids: Iterable<number>): ProvenAbsence[] {
  return Array.from(vendorids, (vendorid) => ({ vendorid, absence: 'missing', stamp }));
}

/** Stores the proven absences. */
export async function applyAbsences(
  { mirror }: SyncAccount,
  absences: Iterable<ProvenAbsence>,
  { context, onVerdict }: SweepAttemptOptions,
): Promise<void> {
  for (const { vendorid, absence, stamp } of absences)
    onVerdict(await mirror.readings.applyAbsence(vendorid, absence, stamp, context));
}
