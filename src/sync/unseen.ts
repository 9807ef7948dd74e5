/** Who was not seen by a complete sweep, and what that may mean (DESIGN 2, rule 7). */
import type { Resident } from '../store/census.ts';
import type { IdSet } from './id-set.ts';

export interface Unseen {
  /** Vendors that should have been listed. */
  readonly suspects: number[];
  /** Suspects that an earlier complete sweep had already missed. */
  readonly again: ReadonlySet<number>;
  /** Deleted ones of a service whose lists hide them: their absence is no news. Those not read for longest come first. */
  readonly hidden: number[];
  /** Vendors that were present before. */
  readonly present: number;
  /**
   * The lowest number of a reading that the sweep could not contradict yet, because what it brought is too young. Its request may have begun
   * long ago: answers take their time, and mirror time does not pass while the machine is off. Of what happened since, the sweep knows nothing.
   */
  readonly guardedSeq: number | undefined;
}

export interface Missed {
  readonly seen: IdSet;
  /** Vendors that the sweep saw otherwise than they are held, and did not believe. */
  readonly guarded: ReadonlySet<number>;
  /** The counter at the start of the sweep: a vendor with a higher number was seen since. */
  readonly beganSeq: number;
  /** Mirror time at which the sweep began, and how long the service may answer from an old copy, in milliseconds. */
  readonly began: number;
  readonly lag: number;
}

/** Sorts those residents that a sweep did not show. */
export async function sortUnseen(
  residents: AsyncIterable<readonly Resident[]>,
  { seen, guarded, beganSeq, began, lag }: Missed,
): Promise<Unseen> {
  const suspects: number[] = [];
  const again = new Set<number>();
  const hidden: Pick<Resident, 'vendorid' | 'read_seq'>[] = [];
  let present = 0;
  let showsDeleted = false;
  let guardedSeq: number | undefined;
  for await (const chunk of residents) {
    for (const { vendorid, vis_state, presence, read_seq, held_since_ms } of chunk) {
      if (presence === 'missing' || presence === 'gone') continue;
      present += 1;
      const tooYoung = began - held_since_ms < lag;
      const isKnown = seen.has(vendorid) && !guarded.has(vendorid);
      if (tooYoung && !isKnown) guardedSeq = Math.min(read_seq, guardedSeq ?? Infinity);
      if (seen.has(vendorid)) {
        showsDeleted ||= vis_state === 1;
        continue;
      }
      const seenOtherwise = read_seq > beganSeq;
      if (seenOtherwise || tooYoung) continue;
      if (vis_state === 1 && presence === 'present') hidden.push({ vendorid, read_seq });
      else {
        suspects.push(vendorid);
        if (presence === 'suspect') again.add(vendorid);
      }
    }
  }
  const unlisted = hidden.sort((a, b) => a.read_seq - b.read_seq).map(({ vendorid }) => vendorid);
  return showsDeleted
    ? { suspects: [...suspects, ...unlisted], again, hidden: [], present, guardedSeq }
    : { suspects, again, hidden: unlisted, present, guardedSeq };
}
