/** A bare listener that shares its event loop with a naive pull, as in a program without threads or transactions of limited length. */
import type { Place } from '../setup/installation.ts';
import type { JobResult } from '../setup/job.ts';
import { job as bareListener } from './bare-listener.ts';
import { naivePull } from './naive-pull.ts';

/** Asked for anything, it pulls. */
export async function job(place: Place): Promise<JobResult> {
  return { ...(await bareListener(place)), answer: () => naivePull(place) };
}
