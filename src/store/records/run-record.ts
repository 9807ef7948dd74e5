/** A run: one recorded attempt to sweep, or to compare. */
import type { ErrorCode } from '../../domain/errors.ts';
import type { ProofKind, RunKind, RunOutcome, RunTable, RunTrigger } from '../tables/mirror-tables.ts';

export interface Run {
  readonly id: number;
  readonly accountId: string;
  readonly kind: RunKind;
  /** Our time at the start, milliseconds since 1970. */
  readonly startedAt: number;
  /** The counter at the start: a vendor with a higher number was seen since. */
  readonly beganSeq: number;
}

/** A run that sweeps, as far as its readings need to know. */
export interface Sweeping extends Pick<Run, 'id'> {
  readonly kind: Exclude<RunKind, 'verify'>;
  readonly trigger: RunTrigger;
}

export type RunCounts = Pick<
  RunTable,
  'pages' | 'requests' | 'seen' | 'created' | 'updated' | 'unchanged' | 'suspects'
>;

export const noCounts: RunCounts = {
  pages: 0,
  requests: 0,
  seen: 0,
  created: 0,
  updated: 0,
  unchanged: 0,
  suspects: 0,
};

export interface RunEnd {
  readonly outcome: Exclude<RunOutcome, 'running' | 'abandoned'>;
  readonly counts: RunCounts;
  /** What went wrong, for a person. */
  readonly error: string | null;
  /** The same by its code in the catalogue of errors. */
  readonly errorCode: ErrorCode | null;
  /** Of a run that walked the list: how it was proven complete, if it was, and whether the list was seen to move. */
  readonly proof: ProofKind | null;
  readonly moved: boolean | null;
  /**
   * Of a complete run: the moments up to which everything, and everything that lists show, is known to be in the mirror,
   * milliseconds since 1970.
   */
  readonly safeAsOf: number | null;
  readonly listedAsOf: number | null;
}

/** Of the latest complete runs that walked the list: how many saw it move, and how many those are. */
export interface ListMoves {
  readonly moved: number;
  readonly walked: number;
}
