/** Whether the simulation finds what is wrong: faults that are planted in the program. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startSeedProcesses, outcomes, type SeedProcesses } from './runs/seed-processes.ts';
import { runsWithoutFault } from './plan/kept-seeds.ts';
import { drawnFrom } from './plan/plan.ts';
import { foundBy, plantedFaults } from './plan/planted-faults.ts';

/** Where worlds keep their mirrors; undefined for files. */
const postgres = inject('postgres');

/** Seeds that are tried, from the one that is written down: few enough that none is still tried when the next fault is. */
const mostSeeds = 20;

/** Only against hanging, in milliseconds: a world on a server takes six times as long. */
const hang = postgres === undefined ? 180_000 : 1_800_000;

describe('planted faults', () => {
  let processes: SeedProcesses;
  beforeAll(() => void (processes = startSeedProcesses(1)));
  afterAll(() => processes.close());

  it.each(plantedFaults)('$promise finds: $name', { timeout: hang }, async ({ name, promise, seed, knobs }) => {
    const drawn = knobs === undefined ? undefined : drawnFrom(knobs);
    for (let one = seed; one < seed + mostSeeds; one += 1) {
      const [faulty] = await outcomes(processes, [{ seed: one, knobs: drawn, fault: name, until: promise, postgres }]);
      if (!foundBy(promise, faulty?.broken ?? [])) continue;
      // A seed that breaks the promise without the fault, too, does not find the fault.
      if (postgres === undefined && runsWithoutFault(one, knobs)) return;
      const [sound] = await outcomes(processes, [{ seed: one, knobs: drawn, postgres }]);
      expect(sound?.broken).toEqual([]);
      return;
    }
    expect.unreachable(`None of ${mostSeeds} seeds from ${seed} breaks ${promise}.`);
  });
});
