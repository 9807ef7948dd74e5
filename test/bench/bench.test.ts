/** The bench works, at sizes too small to say anything: figures are never asserted. */
import { beforeAll, expect, it } from 'vitest';
import { build } from '../support/testbed/build.ts';
import { bench, rows } from './bench.ts';
import type { Host } from './jobs/host.ts';
import type { Job } from './setup/job.ts';
import { jobs } from './jobs/jobs.ts';

/** All jobs in this process: it starts sooner, and the figures say nothing anyway. */
const alongside: Host = {
  async start(name, params) {
    const job: Job = jobs[name];
    const { result, answer, stop } = await job(params as never);
    return {
      result,
      ask: async (question) => answer?.(question as never),
      end: async () => stop?.(),
    };
  },
};

const tiny = {
  host: alongside,
  vendors: 200,
  perPage: 100,
  samples: 1,
  deliveries: 40,
  accounts: 10,
};

async function run(only: readonly string[]): Promise<string> {
  let printed = '';
  const print = (text: string): void => void (printed += text);
  await bench({ only, json: true, sizes: tiny, print, printNotice: () => undefined });
  return printed;
}

beforeAll(build);

it.each(rows.map(({ name }) => name))('measures %s', async (name) => {
  const { rows: measured } = JSON.parse(await run([name])) as { rows: { name: string; ratio: number; met: boolean }[] };
  expect(measured).toEqual([expect.objectContaining({ name, ratio: expect.any(Number) as number })]);
  expect(measured[0]!.ratio).toBeGreaterThan(0);
});
