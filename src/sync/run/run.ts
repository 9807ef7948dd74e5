/** One pull or reconciliation, recorded from start to end; errors are in its report. */
import type { MirrorError } from '../../domain/errors.ts';
import type { ProofKind, RunOutcome, RunTrigger } from '../../store/tables/mirror-tables.ts';
import type { SyncAccount } from '../account/sync-account.ts';
import { SweepRun, type PullOptions } from './sweep-run.ts';
import type { Run, RunCounts } from '../../store/records/run-record.ts';

export type { PullOptions };

/** How a run ended. */
export interface RunReport {
  readonly run: Run;
  readonly trigger: RunTrigger;
  readonly seconds: number;
  readonly outcome: Exclude<RunOutcome, 'running' | 'abandoned'>;
  /** How the list was proven complete; null where it was not. */
  readonly proof: ProofKind | null;
  readonly counts: RunCounts;
  readonly error: MirrorError | undefined;
  /** Notes for a person, in sentences. */
  readonly notes: readonly string[];
}

/** Runs one pull or reconciliation of an account. Expected errors end the run and are in the report. */
export async function pull(account: SyncAccount, options: PullOptions): Promise<RunReport> {
  const { mirror, accountId } = account;
  const { kind, trigger } = options;
  const started = account.clock.monotonic();
  const run = await mirror.runs.beginRun({ accountId, kind, trigger });
  const { counts, proof, moved, notes, freshness, error } = await new SweepRun(account, options, run).run();
  const outcome = !error ? 'complete' : error.exit === 1 ? 'incomplete' : 'failed';
  await mirror.runs.finishRun(run, {
    outcome,
    counts,
    proof,
    moved,
    error: error?.message ?? null,
    errorCode: error?.code ?? null,
    safeAsOf: freshness?.safeAsOf ?? null,
    listedAsOf: freshness?.listedAsOf ?? null,
  });
  const seconds = Math.round(account.clock.monotonic() - started) / 1_000;
  return { run, trigger, seconds, outcome, proof, counts, error, notes };
}
