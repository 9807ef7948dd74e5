import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readMirror, run, temporaryFolder, writeMirror, type Row } from '../../support/mirror-file.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const clock = virtualClock({ auto: true });

const delivery = (object_id: number, received_at: string, outcome = 'applied'): Row => ({
  account_id: '6BApk',
  object_id,
  received_at,
  outcome,
  name: 'bill_vendor.update',
});

const missed = (run_id: number, vendorid: number, found_at: string, explained_at: string | null = null): Row => ({
  run_id,
  vendorid,
  found_at,
  explained_at,
  account_id: '6BApk',
  kind: 'missed_update',
  fields: '["city"]',
});

/** Sweeps end the days: one on the evening of the 18th, 19th and 20th; a verification at noon of the 19th is none. */
const runs = [
  run(1, { started_at: '2026-11-18 20:00:00.000' }),
  run(2, { started_at: '2026-11-19 12:00:00.000', kind: 'verify' }),
  run(3, { started_at: '2026-11-19 20:00:00.000', kind: 'reconcile' }),
  run(4, { started_at: '2026-11-20 20:00:00.000', kind: 'reconcile' }),
];

async function healthOf(deliveries: readonly Row[], findings: readonly Row[]): Promise<Record<string, unknown>[]> {
  const path = join(temporaryFolder(), 'vendors.db');
  // In the order in which it happened, which is how it is counted.
  const happened = [
    ...runs.map((row) => ({ at: String(row['started_at']), rows: { runs: [row] } })),
    ...deliveries.map((row) => ({ at: String(row['received_at']), rows: { deliveries: [row] } })),
    ...findings.map((row) => ({ at: String(row['found_at']), rows: { findings: [row] } })),
  ].sort((one, other) => (one.at < other.at ? -1 : 1));
  for (const { rows } of happened) await writeMirror(path, clock, rows);
  const days = readMirror(path, clock).sqlite.prepare<[], Record<string, unknown>>(
    'SELECT day, unannounced_changes, announced_changes, late_deliveries, loss_rate FROM webhook_health ORDER BY day',
  );
  return days.all();
}

describe('webhook_health', () => {
  it('counts a vendor once between two sweeps, however many deliveries named it, on the day of the second sweep', async () => {
    const told = ['2026-11-18 21:00:00.000', '2026-11-19 09:00:00.000', '2026-11-19 13:00:00.000'];
    const deliveries = [...told.map((at) => delivery(1, at)), delivery(2, told[2]!, 'unchanged')];
    expect(await healthOf(deliveries, [missed(3, 7, '2026-11-19 20:00:05.000')])).toEqual([
      { day: '2026-11-18', unannounced_changes: 0, announced_changes: 0, late_deliveries: 0, loss_rate: null },
      { day: '2026-11-19', unannounced_changes: 1, announced_changes: 2, late_deliveries: 0, loss_rate: 0.3333 },
    ]);
  });

  it('never counts more missed changes than changes if one sweep finds a vendor twice', async () => {
    const at = '2026-11-19 20:00:05.000';
    const again = '2026-11-19 20:00:09.000';
    const late = '2026-11-19 21:00:00.000';
    const told = [delivery(1, '2026-11-19 09:00:00.000')];
    const day = async (...findings: Row[]) => (await healthOf(told, findings)).find(({ day }) => day === '2026-11-19');
    const both = { unannounced_changes: 2, announced_changes: 0, loss_rate: 1 };
    expect(await day(missed(3, 1, at), missed(3, 1, again))).toMatchObject(both);
    expect(await day(missed(3, 1, at, late), missed(3, 1, again))).toMatchObject({ ...both, unannounced_changes: 1 });
  });

  it('counts only the last change if an earlier one was announced and the last was not', async () => {
    expect(
      await healthOf([delivery(1, '2026-11-19 09:00:00.000')], [missed(3, 1, '2026-11-19 20:00:05.000')]),
    ).toMatchObject([{ unannounced_changes: 1, announced_changes: 0, loss_rate: 1 }]);
  });

  it('counts a late announcement as an announcement once the next sweep has begun', async () => {
    const found = '2026-11-19 20:00:05.000';
    const late = '2026-11-19 20:07:00.000';
    expect(await healthOf([delivery(1, late, 'unchanged')], [missed(3, 1, found, late)])).toEqual([
      { day: '2026-11-19', unannounced_changes: 0, announced_changes: 0, late_deliveries: 1, loss_rate: null },
      { day: '2026-11-20', unannounced_changes: 0, announced_changes: 1, late_deliveries: 0, loss_rate: 0 },
    ]);
  });

  it('does not count deliveries that no sweep has followed yet, nor events about other things', async () => {
    const deliveries = [delivery(1, '2026-11-20 21:00:00.000'), delivery(2, '2026-11-20 09:00:00.000', 'ignored')];
    expect(await healthOf(deliveries, [])).toMatchObject([{ announced_changes: 0, loss_rate: null }]);
  });
});
