/** The stored vendors that a sweep did not show. */
import type { ReadStamp } from '../../domain/reading.ts';
import type { IdSet } from '../sweep/id-set.ts';
import type { ScannedVendor } from '../../store/records/scanned-vendor.ts';

export interface Unseen {
  /** Vendors that should have been listed and were not. */
  readonly suspects: number[];
  /** Suspects that an earlier complete sweep did not show either. */
  readonly missedBefore: ReadonlySet<number>;
  /** Deleted vendors where lists hide those; the one not read for longest first. */
  readonly hidden: readonly UnlistedVendor[];
  /** Missing and gone vendors, in the same order. They are read again, so that a wrong absence is corrected. */
  readonly absent: readonly UnlistedVendor[];
  /** A few unlisted vendors that another reading showed moments ago: a read by id should find them. */
  readonly recent: readonly number[];
  /** Number of vendors that were present. */
  readonly present: number;
  /**
   * The lowest `read_seq` of vendors that are too recently stored for the sweep to contradict; undefined for none. Their reading may have
   * begun long ago, because answers take time and mirror time stands still while the machine is off, so the run's freshness is limited by
   * it.
   */
  readonly guardedSeq: number | undefined;
}

export type UnlistedVendor = Pick<ScannedVendor, 'vendorid' | 'read_seq'>;

export interface SeenBySweep {
  readonly seen: IdSet;
  /** Vendors that the sweep saw with other values, which were not accepted. */
  readonly guarded: ReadonlySet<number>;
  /** Whether the lists of this sweep show deleted vendors. */
  readonly showsDeleted: boolean;
  /** Taken before the sweep began: a vendor with a higher number was read since. */
  readonly began: ReadStamp;
  /** How long the service may answer from an old copy, in milliseconds. */
  readonly lag: number;
}

const mostRecent = 3;

/** The result of `sortUnseen` for a sweep that showed all stored vendors, unchanged. */
export function allSeen(present: number): Unseen {
  return { suspects: [], missedBefore: new Set(), hidden: [], absent: [], recent: [], present, guardedSeq: undefined };
}

/** Sorts the stored vendors that a sweep did not show. @param scannedVendors the stored vendors of the account, in chunks */
export async function sortUnseen(
  scannedVendors: AsyncIterable<readonly ScannedVendor[]>,
  { seen, guarded, showsDeleted, began, lag }: SeenBySweep,
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
      const tooYoung = began.begun - held_since_ms < lag;
      const isKnown = seen.has(vendorid) && !guarded.has(vendorid);
      if (tooYoung && !isKnown) guardedSeq = Math.min(read_seq, guardedSeq ?? Infinity);
      const wasReadSince = read_seq > began.readSeq;
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
    missedBefore,
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
