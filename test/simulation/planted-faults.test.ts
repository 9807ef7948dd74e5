/** Whether the simulation finds what is wrong: faults that are planted in the program. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sourceTree } from '../support/source-tree.ts';
import { launch, outcomes, type Fleet } from './seed-processes.ts';
import { drawnFrom } from './plan.ts';
import { foundBy, sabotages } from './planted-faults.ts';

/** Seeds that are tried, from the one that is written down. */
const mostSeeds = 60;

describe('planted faults', () => {
  let fleet: Fleet;
  beforeAll(() => void (fleet = launch(1)));
  afterAll(() => fleet.close());

  it('are planted where the source can take them', () => {
    const source = sourceTree('src')
      .map((file) => file.text)
      .join('\n');
    const misplaced = sabotages.flatMap(({ name, changes }) =>
      changes.filter(({ search }) => source.split(search).length !== 2).map(({ search }) => `${name}: ${search}`),
    );
    expect(misplaced).toEqual([]);
  });

  it.each(sabotages)('$promise finds: $name', async ({ promise, seed, knobs, changes }) => {
    const drawn = knobs === undefined ? undefined : drawnFrom(knobs);
    for (let one = seed; one < seed + mostSeeds; one += 1) {
      const [sabotaged] = await outcomes(fleet, [{ seed: one, knobs: drawn, planted: changes }]);
      if (!foundBy(promise, sabotaged?.broken ?? [])) continue;
      // What breaks without the fault, too, does not find it.
      const [sound] = await outcomes(fleet, [{ seed: one, knobs: drawn }]);
      expect(sound?.broken).toEqual([]);
      return;
    }
    expect.unreachable(`None of ${mostSeeds} seeds from ${seed} breaks ${promise}.`);
  });
});
