/** L36: since when a daemon runs, where the clock was set meanwhile: by the clock as it is now. */
import { expect, it } from 'vitest';
import { timestamp } from '../../../src/domain/clock.ts';
import type { StatusDocument } from '../../../src/health/status-document.ts';
import { daemonSince } from '../../../src/store/files/locks.ts';
import { testbed } from '../../support/testbed.ts';

const [minute, day] = [60_000, 86_400_000];

it.each([
  ['began in 1970, before the machine knew the time', 56 * 365.25 * day],
  ['began with a clock that was a day ahead', -day],
  ['began with a clock that was three hours behind', 3 * 60 * minute],
])('L36 a daemon that %s has run since then, in status and metrics', async (_, jump) => {
  const real = Date.UTC(2026, 10, 20, 12);
  const at = await testbed({ level: 'daemon', begins: real - jump });
  const before = at.clock.monotonic();
  at.clock.shiftWall(jump);
  await at.clock.pass(10 * minute);
  const started = at.clock.now() - at.clock.monotonic();
  expect(Math.abs(started - real)).toBeLessThan(before + 1);
  const { started_at } = JSON.parse((await at.look('/api/status')).body) as StatusDocument;
  expect([started_at, daemonSince(at.settings.database)]).toEqual([timestamp(real), real]);
  const shown = async (): Promise<number> =>
    Number(/^vendor_mirror_start_time_seconds (\S+)$/m.exec((await at.look('/metrics')).body)?.[1]);
  expect(await shown()).toBe(real / 1_000);
  // Adjustments of a running clock do not move it: who counts starts would count them.
  at.clock.shiftWall(3_000);
  await at.clock.pass(10 * minute);
  expect(await shown()).toBe(real / 1_000);
});
