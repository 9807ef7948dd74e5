import { describe, expect, it } from 'vitest';
import { testbed } from '../../support/testbed.ts';
import { activeDifferences } from '../../support/mirror/differences.ts';

/** What lists leave out is read in the course of a day: details.test.ts. Every value of every other axis that a list can meet, several at once; each alone, on a shorter list, in worlds.test.ts. */
const worlds = [
  ['noteInList=yes'],
  ['perPage=ignored', 'order=newest', 'readOne=404', 'listDeleted=shown', 'visState=text', 'pastEnd=last'],
  ['perPage=honoured', 'order=updated', 'readOne=405', 'total=counts_hidden', 'listLag=2', 'readLag=2'],
  [
    'order=updated_newest',
    'visStateFilter=ignored',
    'balances=object',
    'readDeleted=404',
    'pastEnd=404',
    'noteInList=yes',
  ],
];

/** Walked again and again, until the walks together show all: ten thousand show nothing that these do not. */
const shuffled = ['order=shuffled', 'serviceTime=local', 'noteInList=yes'];

describe('a list on pages of fifteen', () => {
  it.each([...worlds.map((world) => [10_000, world.join(' ')] as const), [2_000, shuffled.join(' ')] as const])(
    'of %i vendors is equal to the source field by field in world %s',
    async (vendors, world) => {
      const at = await testbed({
        level: 'account',
        vendors,
        world: world.split(' '),
        settings: { service: { paging: { perPage: 15 } } },
      });
      expect(await at.pull()).toMatchObject({ outcome: 'complete' });
      expect(activeDifferences(at)).toEqual([]);
    },
  );
});
