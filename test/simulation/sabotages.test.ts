/** Whether the simulation finds what is wrong: faults that are planted in the program. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sourceTree } from '../source-tree.ts';
import { launch, outcomes, type Fleet } from './fleet.ts';
import { drawnFrom } from './plan.ts';
import { sabotages } from './sabotages.ts';

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

  it.each(sabotages)('$name is found', async ({ seed, knobs, changes }) => {
    const task = { seed, knobs: knobs === undefined ? undefined : drawnFrom(knobs) };
    // What an earlier fault left behind in this process would be taken for this one.
    const [sound] = await outcomes(fleet, [task]);
    expect(sound?.broken).toEqual([]);
    const [sabotaged] = await outcomes(fleet, [{ ...task, planted: changes }]);
    expect(sabotaged?.broken).not.toEqual([]);
  });
});
