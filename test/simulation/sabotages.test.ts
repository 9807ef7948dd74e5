/** Whether the simulation finds what is wrong: faults that are planted in the program. */
import { describe, expect, it } from 'vitest';
import { sourceTree } from '../source-tree.ts';
import { launch, outcomes } from './fleet.ts';
import { drawnFrom } from './plan.ts';
import { sabotages } from './sabotages.ts';

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

  it.each(sabotages)('$name is found', async (sabotage) => {
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
