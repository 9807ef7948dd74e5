/** Simulated worlds, as `npm run simulate` runs them. SEEDS says how many. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asked } from '../asked.ts';
import { packageRoot } from '../mirror-file.ts';
import { sourceTree } from '../source-tree.ts';
import type { Task } from './crew.ts';
import { launch, type Fleet } from './fleet.ts';
import { keptSeeds } from './kept-seeds.ts';
import { drawnFrom } from './plan.ts';
import { sabotages } from './sabotages.ts';
import type { Outcome } from './simulate.ts';

const seeds = String(asked('SEEDS', 1_500));
/** Only against hanging. */
const hang = 1_800_000;

async function outcomes(fleet: Fleet, tasks: readonly Task[]): Promise<Outcome[]> {
  const all: Outcome[] = [];
  for await (const outcome of fleet.run(tasks)) all.push(outcome);
  return all;
}

describe('simulated worlds', () => {
  let fleet: Fleet;
  beforeAll(() => void (fleet = launch(2)));
  afterAll(() => fleet.close());

  it('no seed breaks a promise, and enough is reached to say so', { timeout: hang }, async () => {
    const args = ['--import', './.config/typescript-loader.js', 'test/simulation/main.ts', '--seeds', seeds];
    const child = spawn(process.execPath, args, { cwd: packageRoot, stdio: ['ignore', 'pipe', 'inherit'] });
    const [said] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    expect({ code: child.exitCode, said }).toMatchObject({ code: 0 });
  });

  it('the same seed has the same trace', { timeout: hang }, async () => {
    // In the last of them a run fails whose error names the file.
    const tasks = [11, 12, 13, 14, 15, 16, 17, 5040].map((seed) => ({ seed }));
    const traces = async (): Promise<Map<number, string>> =>
      new Map((await outcomes(fleet, tasks)).map(({ seed, hash }) => [seed, hash]));
    expect(await traces()).toEqual(await traces());
  });

  it('seeds that once broke a promise break none', { timeout: hang }, async () => {
    const tasks = keptSeeds.map(({ seed, knobs }) => ({ seed, knobs: drawnFrom(knobs) }));
    expect((await outcomes(fleet, tasks)).flatMap(({ broken }) => broken)).toEqual([]);
  });
});

describe('planted faults', () => {
  it('are planted where the source can take them', () => {
    const source = sourceTree('src')
      .map((file) => file.text)
      .join('\n');
    const misplaced = sabotages.flatMap(({ name, changes }) =>
      changes.filter(({ search }) => source.split(search).length !== 2).map(({ search }) => `${name}: ${search}`),
    );
    expect(misplaced).toEqual([]);
  });

  it.each(sabotages)('$name is found', { timeout: hang }, async (sabotage) => {
    const { seed, knobs } = sabotage;
    const fleet = launch(1, sabotage);
    try {
      const [outcome] = await outcomes(fleet, [{ seed, knobs: knobs === undefined ? undefined : drawnFrom(knobs) }]);
      expect(outcome?.broken).not.toEqual([]);
    } finally {
      fleet.close();
    }
  });
});
