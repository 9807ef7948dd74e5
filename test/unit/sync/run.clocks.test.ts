/** What a run claims beside a clock that the service contradicts. */
import { expect, it } from 'vitest';
import { timestamp } from '../../../src/domain/clock.ts';
import { testbed } from '../../support/testbed.ts';

const hour = 3_600_000;

it.each([
  ['two hours ahead of the service', -2 * hour],
  ['two hours behind the service', 2 * hour],
  ['ten seconds ahead of the service', -10_000],
])('L16 a clock that is %s: complete, and no claim of freshness until it is right', async (_, skew) => {
  let now: number | null = skew;
  const at = await testbed({ level: 'account', skew: () => now });
  const freshness = (): unknown => at.query('SELECT safe_as_of, listed_as_of FROM freshness')[0];
  const noted = (): unknown => at.query('SELECT clock_ahead_ms FROM _reading_counter')[0]?.['clock_ahead_ms'];
  expect(await at.pull()).toMatchObject({ outcome: 'complete' });
  expect(freshness()).toEqual({ safe_as_of: null, listed_as_of: null });
  expect(Math.abs(Number(noted()) + skew)).toBeLessThan(1_000);

  now = 0;
  await at.clock.advance(60_000);
  const began = at.clock.now();
  expect(await at.pull()).toMatchObject({ outcome: 'complete' });
  expect(freshness()).toMatchObject({ safe_as_of: timestamp(began - 5_000) });
  expect(noted()).toBeNull();
});

it('L16 a service that tells no time is believed as before', async () => {
  const at = await testbed({ level: 'account', skew: () => null });
  expect(await at.pull()).toMatchObject({ outcome: 'complete' });
  expect(at.query('SELECT safe_as_of IS NOT NULL AS known FROM freshness')).toEqual([{ known: 1 }]);
});

it('B4 a clock that was ahead and is set right leaves no claim for longer than half a minute, though nothing is asked', async () => {
  const at = await testbed({ level: 'daemon' });
  const claims = (): unknown => at.query('SELECT safe_as_of, listed_as_of FROM freshness')[0];
  const unknown = { safe_as_of: null, listed_as_of: null };
  await at.clock.until('a run was complete', () => JSON.stringify(claims() ?? unknown) !== JSON.stringify(unknown));
  await at.clock.pass(60_000);
  let asked = 0;
  at.sandbox.onRequest(() => void (asked += 1));
  // Too little for all accounts to be reconciled.
  at.clock.shiftWall(-40_000);
  await at.clock.pass(31_000);
  expect(asked).toBe(0);
  expect(claims()).toEqual(unknown);
});
