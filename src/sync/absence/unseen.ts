import type { IdSet } from '../sweep/id-set.ts';
import type { ScannedVendor } from '../../store/records/scanned-vendor.ts';

export interface Unseen {
  /** Vendors that should have been listed. */
  readonly suspects: number[];
  /** Suspects that an earlier complete sweep had already missed. */
  readonly missedBefore: ReadonlySet<number>;
  /** Deleted vendors of a service whose lists hide them, with the reading that showed each last; the one not read for longest first. */
  readonly hidden: readonly UnlistedVendor[];
  /** Vendors that are missing or gone, in the same order: an absence that was concluded wrongly heals when they are read. */
  readonly absent: readonly UnlistedVendor[];
  /** A few vendors that no list showed, and another reading did moments ago: they ought to be answered by id. */
  readonly recent: readonly number[];
  /** Vendors that were present before. */
  readonly present: number;
  /**
   * The lowest number of a reading that the sweep could not contradict yet, because what it brought is too young. Its request may have begun
   * long ago: answers take their time, and mirror time does not pass while the machine is off. Of what happened since, the sweep knows nothing.
   */
  readonly guardedSeq: number | undefined;
}

export type UnlistedVendor = Pick<ScannedVendor, 'vendorid' | 'read_seq'>;

export interface SeenBySweep {
  readonly seen: IdSet;
  /** Vendors that the sweep saw otherwise than they are held, and did not believe. */
  readonly guarded: ReadonlySet<number>;
  /** Whether the sweep's own lists show deleted vendors. */
  readonly showsDeleted: boolean;
  /** The counter at the start of the sweep: a vendor with a higher number was seen since. */
  readonly beganSeq: number;
  /** Mirror time at which the sweep began, and how long the service may answer from an old copy, in milliseconds. */
  readonly began: number;
  readonly lag: number;
}

const mostRecent = 3;

/** What `sortUnseen` finds where a sweep showed every vendor that is stored, present and as it is stored. */
export function allSeen(present: number): Unseen {
  return { suspects: [], missedBefore: new Set(), hidden: [], absent: [], recent: [], present, guardedSeq: undefined };
}

/** Sorts those stored vendors that a sweep did not show. */
export async function sortUnseen(
  scannedVendors: AsyncIterable<readonly ScannedVendor[]>,
  { seen, guarded, showsDeleted, beganSeq, began, lag }: SeenBySweep,
): Promise<Unseen> {
  const suspects: number[] = [];
  const missedBefore = new Set<number>();
  const hidden: UnlistedVendor[] = [];
  const absent: UnlistedVendor[] = [];
  const recent: number[] = [];
  let present = 0;
  let guardedSeq: number | undefined;
  for await (const chunk of scannedVendors) {
    for (const { vendorid, vis_state, presence, read_seq, held_since_ms } of chunk) {
      if (presence === 'missing' || presence === 'gone') {
        if (!seen.has(vendorid)) absent.push({ vendorid, read_seq });
        continue;
      }
      present += 1;
      const tooYoung = began - held_since_ms < lag;
      const isKnown = seen.has(vendorid) && !guarded.has(vendorid);
      if (tooYoung && !isKnown) guardedSeq = Math.min(read_seq, guardedSeq ?? Infinity);
      const wasReadSince = read_seq > beganSeq;
      if (seen.has(vendorid)) continue;
      if (wasReadSince || tooYoung) {
        if (recent.length < mostRecent) recent.push(vendorid);
        continue;
      }
      if (vis_state === 1 && presence === 'present' && !showsDeleted) hidden.push({ vendorid, read_seq });
      else {
        suspects.push(vendorid);
        if (presence === 'suspect') missedBefore.add(vendorid);
      }
    }
  }
  return {
    suspects,
    missedBefore: missedBefore,
    hidden: hidden.sort(byReading),
    absent: absent.sort(byReading),
    recent,
    present,
    guardedSeq,
  };
}

function byReading(a: UnlistedVendor, b: UnlistedVendor): number {
  return a.read_seq - b.read_seq;
}
