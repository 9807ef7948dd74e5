/** A full pull by the program, from opening its files to closing them. */
import { timed } from '../baselines/bare-mirror.ts';
import { account, open, type Place } from '../setup/installation.ts';
import type { JobResult } from '../setup/job.ts';

export interface PullResult {
  readonly ms: number;
  /** Of the processor. */
  readonly cpuMs: number;
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly requests: number;
  /** Until the list was proven complete; what lists leave out is read after it. */
  readonly seconds: number;
}

type Summary = Awaited<ReturnType<Awaited<ReturnType<typeof open>>['pull']>>;

export async function job(place: Place): Promise<JobResult> {
  const summaries: Summary[] = [];
  const took = await timed(async () => {
    const installation = await open(place);
    summaries.push(
      await installation.pull(account, {
        kind: 'pull',
        trigger: 'command',
        signal: new AbortController().signal,
      }),
    );
    await installation.close();
  });
  const [summary] = summaries;
  if (summary?.outcome !== 'complete') throw summary?.error ?? new Error('The pull was not complete.');
  const { created, updated, unchanged, requests, seconds } = summary;
  const result: PullResult = { ...took, created, updated, unchanged, requests, seconds };
  return { result };
}
