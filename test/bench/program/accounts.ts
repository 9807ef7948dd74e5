/** First pulls of many accounts in one file, one after the other, as `sync` does. */
import { open, type Place } from '../setup/installation.ts';
import type { JobResult } from '../setup/job.ts';

export async function job(place: Place): Promise<JobResult> {
  const begun = performance.now();
  const installation = await open(place);
  const { signal } = new AbortController();
  for (const account of installation.accounts) {
    const { outcome, error } = await installation.pull(account, { kind: 'pull', trigger: 'command', signal });
    if (outcome !== 'complete') throw error ?? new Error('The pull was not complete.');
  }
  await installation.close();
  return { result: { ms: performance.now() - begun } };
}
