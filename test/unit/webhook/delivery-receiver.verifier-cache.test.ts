import { expect, it } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { VerifierCache } from '../../../src/webhook/delivery-receiver.ts';

it('verifiers are read once for all deliveries of a turn, for each account, and again in the next turn', async () => {
  const asked: string[] = [];
  const verifierCache = new VerifierCache(systemClock, {
    usable: (accountId) => {
      asked.push(accountId);
      return Promise.resolve([new Secret(`key ${asked.length}`)]);
    },
  });
  const [one, other] = await Promise.all([
    verifierCache.usable('a'),
    verifierCache.usable('a'),
    verifierCache.usable('b'),
  ]);
  expect(other).toBe(one);
  expect(asked).toEqual(['a', 'b']);
  await systemClock.yield();
  expect((await verifierCache.usable('a'))[0]?.reveal()).toBe('key 3');
});

it('a failed read of verifiers is not cached', async () => {
  let broken = true;
  const verifierCache = new VerifierCache(systemClock, {
    usable: () => (broken ? Promise.reject(new Error('locked')) : Promise.resolve([])),
  });
  await expect(verifierCache.usable('a')).rejects.toThrow('locked');
  await systemClock.yield();
  broken = false;
  await expect(verifierCache.usable('a')).resolves.toEqual([]);
});
