/** The sandbox, whose list never stands still. */
import { systemClock } from '../../../src/domain/clock.ts';
import { parseWorld } from '../../../src/sandbox/core/worlds.ts';
import { startEmbeddedSandbox } from '../../../src/sandbox/embedded.ts';
import { token } from '../setup/installation.ts';
import type { JobResult } from '../setup/job.ts';
import type { ServiceResult } from './service.ts';

export interface SandboxParams {
  readonly vendors: number;
  /** The order of its lists. */
  readonly order: 'id' | 'updated_newest';
  /** Changes a second. */
  readonly changes: number;
}

export async function job({ vendors, order, changes }: SandboxParams): Promise<JobResult> {
  const { baseUrl, stop } = await startEmbeddedSandbox({
    clock: systemClock,
    fetch,
    token,
    vendors,
    churn: changes,
    rateLimits: null,
    world: parseWorld(['records=odd', 'perPage=honoured', `order=${order}`]),
  });
  const result: ServiceResult = { baseUrl };
  return { result, stop };
}
