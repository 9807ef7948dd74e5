/**
 * The states of a run, which is one recorded attempt to sweep or to compare an account: `runs.outcome`, and what moves it.
 *
 *   running      under way, in the process that its row names
 *   complete     its result is whole; only a complete sweep says anything about what is absent
 *   incomplete   its result is not whole: what it applied stays, and nothing is concluded from it
 *   failed       it could not be carried out
 *   abandoned    its process ended during it
 *
 *   evidence    is                                                                running      any other
 *   ----------  ----------------------------------------------------------------  -----------  ---------
 *   whole       the run ended without an error                                    complete     stays
 *   not_whole   a sweep ended with an error of exit status 1, a comparison by     incomplete   stays
 *               any error
 *   failed      a sweep ended with any other error                                failed       stays
 *   left        its process is dead, or is this one and does not carry it out;    abandoned    stays
 *               found by the next run of the account, when it begins; who only
 *               reads shows it so before (`Carriers` in `store/runs.ts`)
 *
 * An end is final. A process that was taken for dead and goes on ends its run in vain.
 */
import { exitStatus, type MirrorError } from './errors.ts';

export type RunKind = 'pull' | 'reconcile' | 'verify';
export type RunOutcome = 'running' | 'complete' | 'incomplete' | 'failed' | 'abandoned';

/** How a run itself ended. */
export type RunEnding = 'whole' | 'not_whole' | 'failed';
export type EndedOutcome = 'complete' | 'incomplete' | 'failed';
export type RunEvidence = RunEnding | 'left';

const ends = {
  whole: 'complete',
  not_whole: 'incomplete',
  failed: 'failed',
  left: 'abandoned',
} as const satisfies Record<RunEvidence, RunOutcome>;

/** The outcome after this evidence. */
export function nextOutcome<E extends RunEvidence>(outcome: 'running', evidence: E): (typeof ends)[E];
export function nextOutcome(outcome: RunOutcome, evidence: RunEvidence): RunOutcome;
export function nextOutcome(outcome: RunOutcome, evidence: RunEvidence): RunOutcome {
  return outcome === 'running' ? ends[evidence] : outcome;
}

/** How a run ended that had this error, or none. */
export function endingOf(kind: RunKind, error: Pick<MirrorError, 'exit'> | undefined): RunEnding {
  if (!error) return 'whole';
  return kind === 'verify' || error.exit === exitStatus.incomplete ? 'not_whole' : 'failed';
}

/** How far a sweep has come. */
export interface SweepProgress {
  /** The last page that arrived, of how many, and the walk that it belongs to. */
  readonly page: number;
  readonly pages: number;
  readonly pass: number;
  /** Vendors seen, of how many that the list counts. */
  readonly seen: number;
  readonly total: number;
}
