import { expect, it } from 'vitest';
import { IdSet } from '../../../../src/sync/sweep/id-set.ts';

it.each([
  ['the same ids in another order', [3, 1, 2 ** 40], true],
  ['an id less', [1, 2 ** 40], false],
  ['an id more', [1, 2, 3, 2 ** 40], false],
  ['another id', [1, 2, 2 ** 40], false],
  ['no ids', [], false],
])('a set of ids is compared with one of %s', (_, others, isEqual) => {
  const ids = new IdSet([1, 3]);
  ids.addAll([3, 2 ** 40]);
  expect(ids.equals(new IdSet(others))).toBe(isEqual);
});
