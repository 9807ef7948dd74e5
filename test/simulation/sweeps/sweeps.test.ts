/** The sweep against scripted lists. SWEEPS says how many seeds are swept, EVERY for how many worlds each script of two changes is. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { asked } from '../../support/test-size.ts';
import { packageRoot } from '../../support/mirror-file.ts';
import { plantedFaults } from './planted.ts';
import { counts, pageCounts, pastEnds } from './scripted-list.ts';

const run = promisify(execFile);

interface Report {
  readonly sweeps: number;
  readonly lost: number;
  /** Sweeps that were deceived by a count which nothing had refuted before. */
  readonly deceived: number;
  /** Complete sweeps by what the service says of its list: `counts=fewer`. */
  readonly reach: Readonly<Record<string, number>>;
  readonly windowsShare: number;
}

/** Runs `npm run sweeps`; what it prints last is its report. */
async function sweeps(...args: string[]): Promise<Report> {
  const loader = ['--import', './.config/typescript-loader.js', 'test/simulation/sweeps/main.ts'];
  const { stdout } = await run(process.execPath, [...loader, ...args], { cwd: packageRoot });
  return JSON.parse(stdout.trim().split('\n').at(-1)!) as Report;
}

const claims = [
  ...counts.map((value) => `counts=${value}`),
  ...pageCounts.map((value) => `pageCount=${value}`),
  ...pastEnds.map((value) => `pastEnd=${value}`),
  'firstPage=0',
  'firstPage=1',
  'hidesPage=true',
];

describe('a sweep that is complete', () => {
  it('K6 K7 K8 K31 K39 K40 L1 L17 has shown every vendor that did not change, in worlds and scripts drawn by seeds', async () => {
    const report = await sweeps('--random', String(asked('SWEEPS', 6_000, 1_000)));
    expect(report.lost).toBe(0);
    expect(report.windowsShare).toBeGreaterThan(0.45);
    expect(report.deceived / report.sweeps).toBeLessThan(0.002);
    for (const value of claims) expect(report.reach[value] ?? 0, value).toBeGreaterThan(report.sweeps / 100);
  });

  it('K6 K31 has shown every vendor that did not change, whatever two changes happen between its requests', async () => {
    const report = await sweeps('--every', String(asked('EVERY', 4, 1)), '--changes', '2');
    expect(report.lost).toBe(0);
  });
});

describe('a fault that is planted in the sweep', () => {
  it.each(plantedFaults)('is found: $name', async ({ name, seed }) => {
    const { lost } = await sweeps('--from', String(seed), '--random', '1', '--fault', name);
    expect(lost).toBe(1);
  });
});
