import { expect, it, onTestFinished } from 'vitest';
import { createMaintenance } from '../../../src/app/maintenance.ts';
import { createLog } from '../../../src/domain/log.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const megabyte = 2 ** 20;

const copyJournal = (): Promise<void> => Promise.resolve();

async function* nothing(): AsyncGenerator<number, void, void> {
  // Nothing is old.
}

it('F5 a journal that a reader keeps from being reused is logged once, and again when it grows again', async () => {
  const clock = virtualClock();
  const lines: string[] = [];
  const sizes = { databaseBytes: megabyte, walBytes: 0, freeBytes: megabyte };
  const maintenance = createMaintenance({
    mirror: { place: { sizes: () => sizes, assertOurs: () => undefined, copyJournal }, prune: nothing },
    secrets: { place: { assertOurs: () => undefined, copyJournal } },
    retention: { deliveries: null, runs: null, versions: null },
    serviceTime: { isProven: true },
    clock,
    log: createLog('info', { write: (line) => void lines.push(line) }),
  });
  await maintenance.start();
  onTestFinished(() => maintenance.stop());
  const told: number[] = [];
  for (const walBytes of [64, 65, 500, 1, 80].map((size) => size * megabyte)) {
    sizes.walBytes = walBytes;
    await clock.advance(120_000);
    told.push(lines.length);
  }
  expect(told).toEqual([0, 1, 1, 1, 2]);
  expect(lines[0]).toContain('keeps a query open');
});
