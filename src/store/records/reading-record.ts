/** The context of a reading when it is applied, and its results. */
import type { Source } from '../../domain/reading.ts';
import type { Verdict } from '../decide/verdict.ts';
import type { Finding } from './finding-record.ts';
import type { Run } from './run-record.ts';

export interface ReadingContext {
  readonly accountId: string;
  readonly source: Source;
  readonly runId: number | null;
  readonly deliveryId: number | null;
  /** How long, in milliseconds, the service may answer from an old copy. */
  readonly lag: number;
}

/** Evidence that a change was announced. */
export interface Evidence {
  /** A delivery about the vendor waits for a reading. */
  readonly marked: boolean;
  /** When the newest delivery about the vendor came that no reading has confirmed; null where there is none. */
  readonly unanswered: string | null;
}

/** Decides whether a change that a sweep found is a finding. Pure, because it is called inside a transaction. */
export type ChangeClassifier = (vendorid: number, verdict: Verdict, evidence: Evidence) => Finding | undefined;

/** The context of a sweep: its run, and the classifier of its changes. */
export interface SweepContext extends ReadingContext {
  readonly run: Pick<Run, 'id'>;
  readonly changeClassifier: ChangeClassifier | undefined;
}

export type Verdicts = ReadonlyMap<number, Verdict>;
