/** Simulated worlds, as `npm run simulate` runs them. SEEDS says how many. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asked, isFew } from '../support/test-size.ts';
import { packageRoot } from '../support/mirror-file.ts';
import { startSeedProcesses, outcomes, type SeedProcesses } from './runs/seed-processes.ts';
import { keptSeeds, usualSeeds } from './plan/kept-seeds.ts';
import { drawnFrom } from './plan/plan.ts';

const seeds = String(asked('SEEDS', usualSeeds, 6));
/** Only against hanging. */
const hang = 1_800_000;

describe('simulated worlds', () => {
  it('L71 no seed breaks a promise, and the seeds cover enough to be conclusive', { timeout: hang }, async () => {
    const args = ['--import', './.config/typescript-loader.js', 'test/simulation/main.ts', '--seeds', seeds];
    const child = spawn(process.execPath, args, { cwd: packageRoot, stdio: ['ignore', 'pipe', 'inherit'] });
    const [said] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    expect({ code: child.exitCode, said }).toMatchObject({ code: 0 });
  });

  describe('kept seeds', () => {
    let processes: SeedProcesses;
    beforeAll(() => void (processes = startSeedProcesses(2)));
    afterAll(() => processes.close());

    it('have the same trace each time', { timeout: hang }, async () => {
      // In the last of them a run fails whose error names the file.
      const seeds = isFew() ? [5040] : [11, 12, 13, 14, 15, 16, 17, 5040];
      const tasks = seeds.map((seed) => ({ seed }));
      const traces = async (): Promise<Map<number, string>> =>
        new Map((await outcomes(processes, tasks)).map(({ seed, hash }) => [seed, hash]));
      expect(await traces()).toEqual(await traces());
    });

    it('have outcomes of their own, also where one process simulates two of them', { timeout: hang }, async () => {
      const one = startSeedProcesses(1);
      try {
        const both = await Promise.all([outcomes(one, [{ seed: 11 }]), outcomes(one, [{ seed: 12 }])]);
        expect(both.flat().map(({ seed }) => seed)).toEqual([11, 12]);
      } finally {
        one.close();
      }
    });

    it('no longer break the promises that they once broke', { timeout: hang }, async () => {
      const tasks = (isFew() ? keptSeeds.slice(-3) : keptSeeds).map(({ seed, knobs }) => ({
        seed,
        knobs: drawnFrom(knobs),
      }));
      expect((await outcomes(processes, tasks)).flatMap(({ broken }) => broken)).toEqual([]);
    });
  });
});
