/** A full pull by the program. */
import { account, open, type Place } from './installation.ts';
import type { JobResult } from './job.ts';

export interface PullTold {
  readonly ms: number;
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
}

export async function job(place: Place): Promise<JobResult> {
  const installation = await open(place);
  const begun = performance.now();
  const summary = await installation.pull(account, {
    kind: 'pull',
    trigger: 'command',
    signal: new AbortController().signal,
  });
  const ms = performance.now() - begun;
  await installation.close();
  if (summary.outcome !== 'complete') throw summary.error ?? new Error('The pull was not complete.');
  const { created, updated, unchanged } = summary;
  const told: PullTold = { ms, created, updated, unchanged };
  return { told };
}
