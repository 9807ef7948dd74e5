/** What a reading takes along when it is applied, and what it comes to. */
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

/** What speaks for a change having been announced. */
export interface Evidence {
  /** A delivery about the vendor waits to be answered by a reading. */
  readonly marked: boolean;
  /** When the newest delivery about the vendor came for which no reading has shown anything new. */
  readonly unanswered: string | null;
}

/** Says whether a change that a sweep met is a finding. Pure: it is asked inside a transaction. */
export type ChangeClassifier = (vendorid: number, verdict: Verdict, evidence: Evidence) => Finding | undefined;

/** A sweep's context: its run, and who accounts for the differences it meets. */
export interface SweepContext extends ReadingContext {
  readonly run: Pick<Run, 'id'>;
  readonly changeClassifier: ChangeClassifier | undefined;
}

export type Verdicts = ReadonlyMap<number, Verdict>;
