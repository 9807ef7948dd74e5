/** Absences that have their second proof: by a reading, which says gone, or by a second complete sweep, which says missing. */
import type { ReadStamp } from '../../domain/reading.ts';
import type { Absence } from '../../store/decide/verdict.ts';
import type { SweepAttemptOptions } from '../queue/attempt.ts';
import type { Engine } from '../account/engine.ts';

/** An absence, and the reading that gave it its second proof. */
export interface ProvenAbsence {
  readonly vendorid: number;
  readonly absence: Absence;
  readonly stamp: ReadStamp;
}

/** Those of the vendors that the service does not know, by readings that prove it. */
export function goneByReading(
  vendorids: readonly number[],
  { absent }: { readonly absent: ReadonlyMap<number, ReadStamp> },
): ProvenAbsence[] {
  return vendorids.flatMap((vendorid) => {
    const stamp = absent.get(vendorid);
    return stamp ? { vendorid, absence: 'gone', stamp } : [];
  });
}

/** Vendors that two complete sweeps did not show, of which the later one began with that reading. */
export function missingBySweep(stamp: ReadStamp, vendorids: Iterable<number>): ProvenAbsence[] {
  return Array.from(vendorids, (vendorid) => ({ vendorid, absence: 'missing', stamp }));
}

/** Writes down what was proven. */
export async function applyAbsences(
  { mirror }: Engine,
  absences: Iterable<ProvenAbsence>,
  { context, onVerdict }: SweepAttemptOptions,
): Promise<void> {
  for (const { vendorid, absence, stamp } of absences)
    onVerdict(await mirror.readings.applyAbsence(vendorid, absence, stamp, context));
}
