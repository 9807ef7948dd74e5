/** A run: one recorded attempt to sweep, or to compare. */
import type { ErrorCode } from '../../domain/errors.ts';
import type { ReadStamp } from '../../domain/reading.ts';
import type { ProofKind, RunKind, RunOutcome, RunTable, RunTrigger } from '../tables/mirror-tables.ts';

export interface RunStart {
  readonly accountId: string;
  readonly kind: RunKind;
  readonly trigger: RunTrigger;
}

export interface Run {
  readonly id: number;
  readonly accountId: string;
  readonly kind: RunKind;
  /** Our time at the start, milliseconds since 1970. */
  readonly startedAt: number;
  /** Taken at the start: a vendor with a higher number was read since. */
  readonly began: ReadStamp;
}

/** A run that sweeps, as its readings need it. */
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
  /** The error message; null where there is none. */
  readonly error: string | null;
  /** The error code. */
  readonly errorCode: ErrorCode | null;
  /** How the list was proven complete, and whether it moved; null where that is unknown or does not apply. */
  readonly proof: ProofKind | null;
  readonly moved: boolean | null;
  /** For a complete run: the moments (milliseconds since 1970) up to which the mirror is complete, for all vendors and for listed ones. */
  readonly safeAsOf: number | null;
  readonly listedAsOf: number | null;
}

/** Of the latest complete runs that walked the list: how many saw it move, and how many there are. */
export interface ListMoves {
  readonly moved: number;
  readonly walked: number;
}
