import { expect, it } from 'vitest';
import { eachGotAndUsed } from '../../../src/domain/concurrency.ts';

/** What is got and used, each step of which ends when the test says so. */
function steps() {
  const told: string[] = [];
  const open = new Map<string, { done: () => void; fail: (error: Error) => void }>();
  const step = (name: string): Promise<void> => {
    told.push(name);
    return new Promise((done, fail) => open.set(name, { done, fail }));
  };
  const settle = async (name: string, how: 'done' | Error = 'done'): Promise<void> => {
    const { done, fail } = open.get(name) ?? expect.unreachable(`${name} is not under way`);
    if (how === 'done') done();
    else fail(how);
    await new Promise((turn) => setImmediate(turn));
  };
  const all = eachGotAndUsed(
    [1, 2, 3, 4, 5],
    2,
    (item) => step(`get ${item}`).then(() => item * 10),
    (got, item) => step(`use ${item}: ${got}`),
  );
  return { told, settle, all };
}

it('the next is got while the one before is used, and each is used once with what was got', async () => {
  const { told, settle, all } = steps();
  expect(told).toEqual(['get 1', 'get 2']);
  await settle('get 2');
  expect(told.slice(2)).toEqual(['use 2: 20', 'get 3']);
  await settle('get 1');
  expect(told.slice(4)).toEqual(['use 1: 10', 'get 4']);
  await settle('get 3');
  // Two are used and one is got already.
  expect(told.slice(6)).toEqual([]);
  await settle('use 1: 10');
  expect(told.slice(6)).toEqual(['use 3: 30', 'get 5']);
  for (const name of ['get 4', 'use 2: 20', 'use 3: 30', 'get 5', 'use 4: 40', 'use 5: 50']) await settle(name);
  await all;
  expect(told.slice(8)).toEqual(['use 4: 40', 'use 5: 50']);
});

it.each([
  ['get 3', ['get 4', 'use 1: 10', 'use 2: 20', 'use 4: 40']],
  ['use 1: 10', ['get 3', 'get 4', 'use 2: 20']],
])('%s fails: nothing more is got, and what is under way ends first', async (name, underWay) => {
  const { told, settle, all } = steps();
  let ended = false;
  const failure = expect(all.finally(() => (ended = true))).rejects.toThrow('Broken');
  await settle('get 1');
  await settle('get 2');
  await settle(name, new Error('Broken'));
  for (const other of underWay) {
    expect(ended).toBe(false);
    await settle(other);
  }
  await failure;
  expect(told).not.toContain('get 5');
});
