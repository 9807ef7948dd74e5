/** The bench works, at sizes too small to say anything: figures are never asserted. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { temporaryFolder } from '../support/mirror-file.ts';
import { build } from '../support/testbed/build.ts';
import { bench, rows } from './bench.ts';
import { rises } from './rows/growth.ts';
import type { Host } from './jobs/host.ts';
import type { Job } from './setup/job.ts';
import { jobs } from './jobs/jobs.ts';
import { growthPicture } from './rows/picture.ts';

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

async function run(only: readonly string[]): Promise<{ printed: string; picture: string }> {
  const picture = join(temporaryFolder(), 'growth.svg');
  let printed = '';
  const print = (text: string): void => void (printed += text);
  await bench({ only, json: true, picture, sizes: tiny, print, printNotice: () => undefined });
  return { printed, picture };
}

beforeAll(build);

it.each(rows.filter(({ onlyNamed }) => !onlyNamed).map(({ name }) => name))('measures %s', async (name) => {
  const { printed } = await run([name]);
  const { rows: measured } = JSON.parse(printed) as { rows: { name: string; ratio: number; met: boolean }[] };
  expect(measured).toEqual([expect.objectContaining({ name, ratio: expect.any(Number) as number })]);
  expect(measured[0]!.ratio).toBeGreaterThan(0);
});

it('draws how costs grow', async () => {
  const { picture } = await run(['growth']);
  expect(readFileSync(picture, 'utf8')).toMatch(/^<svg .*first pull, per vendor/s);
});

it.each([
  [408, ['0', '240', '480']],
  [0.27, ['0', '0.16', '0.32']],
  [86_900, ['0', '50,000', '100,000']],
])('numbers the axis of costs up to %d by what stands there', (cost, expected) => {
  const drawn = growthPicture([{ name: 'pull', unit: 'ms', points: [{ size: 1, costs: [cost] }] }]);
  expect(Array.from(drawn.matchAll(/text-anchor="end">([^<]*)</g), ([, label]) => label)).toEqual(expected);
});

it.each([
  ['falls', '3 4, 2 3', []],
  ['is within the noise', '3 5, 4 6, 5 7', []],
  ['is beyond it', '3 4, 5 6, 2 3, 4 5', [10, 1_000]],
])('says where a curve rises: what %s', (_, samples, sizes) => {
  const points = samples
    .split(', ')
    .map((costs, power) => ({ size: 10 ** power, costs: costs.split(' ').map(Number) }));
  expect(rises({ points })).toEqual(sizes);
});
