/** A daemon that dies again and again in the middle of its runs. */
import { expect, it } from 'vitest';
import { run as runRow, writeMirror } from '../../support/mirror-file.ts';
import { timestamp } from '../../../src/domain/clock.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

/** Leaves runs that ended with their process this many milliseconds ago. */
async function died(at: Testbed<'daemon'>, ...ages: number[]): Promise<void> {
  const runs = ages.map((age, nth) => {
    const started_at = timestamp(at.clock.now() - age);
    return runRow(nth + 1, { outcome: 'abandoned', started_at, finished_at: started_at, safe_as_of: null });
  });
  await at.clock.during(at.stop().then(() => writeMirror(at.settings.database, at.clock, { runs })));
  await at.reopen();
}

/** How long after its start the daemon first asks for vendors, in seconds. */
async function silence(at: Testbed<'daemon'>): Promise<number> {
  const start = at.clock.monotonic();
  await at.start();
  await at.clock.until('it asks', () => at.requests.some((request) => request.includes('bill_vendors')));
  return Math.round((at.clock.monotonic() - start) / 1_000);
}

it.each([
  ['once', [60_000], 0],
  ['twice', [60_000, 120_000], 4],
  ['five times', [1, 2, 3, 4, 5].map((minutes) => minutes * 60_000), 32],
  ['thirty times', Array.from({ length: 30 }, (_, nth) => nth * 60_000), 300],
  ['five times, long ago', [2, 3, 4, 5, 6].map((hours) => hours * 3_600_000), 0],
])('J3 died %s: its next run waits', async (_, ages, seconds) => {
  const at = await testbed({ level: 'daemon', started: false });
  await died(at, ...ages);
  expect(await silence(at)).toBe(seconds);
});
