/** What retention removes, and above all what it keeps. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createMaintenance } from '../../../src/app/maintenance.ts';
import { timestamp } from '../../../src/domain/clock.ts';
import type { Settings } from '../../../src/settings/parse.ts';
import type { Service } from '../../../src/domain/concurrency.ts';
import { createLog, silentLog } from '../../../src/domain/log.ts';
import { ServiceTime } from '../../../src/domain/service-time.ts';
import type { SqliteDatabase } from '../../../src/store/sqlite/database.ts';
import { expiringDeliveries } from '../../../src/store/deliveries.ts';
import { expiringFindings } from '../../../src/store/findings.ts';
import { expiringVersions } from '../../../src/store/history.ts';
import { expiringRuns } from '../../../src/store/runs.ts';
import { removeExpired } from '../../../src/store/retention.ts';
import {
  ask,
  openDatabase,
  run,
  temporaryFolder,
  type Row,
  type Rows,
  version,
  writeMirror,
} from '../../support/mirror-file.ts';
import { openedMirror } from '../../support/mirror/opened-mirror.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import type { Store } from '../../../src/store/mirror.ts';
import { newDelivery } from '../../support/deliveries/new-delivery.ts';

const hour = 3_600_000;
const day = 24 * hour;
const clock = virtualClock();
const daysAgo = (days: number): string => timestamp(clock.now() - days * day);

/** A mirror with these rows, and a look at which of them are left. */
async function holding(rows: Rows): Promise<{ mirror: Store; left: (table: string, column?: string) => unknown[] }> {
  const { path, mirror } = await openedMirror(rows, clock);
  return {
    mirror,
    left: (table, column = 'id') =>
      ask<{ it: unknown }>(path, `SELECT ${column} AS it FROM ${table} ORDER BY 1`).map(({ it }) => it),
  };
}

const delivery = (id: number, outcome: string, days: number, told: Row = {}): Row => ({
  id,
  account_id: 'one',
  received_at: daysAgo(days),
  name: 'bill_vendor.update',
  object_id: 1,
  outcome,
  ...told,
});
const finding = (id: number, days: number, told: Row = {}): Row => ({
  ...{ id, run_id: 1, account_id: 'one', vendorid: 1, kind: 'missed_update', fields: '[]' },
  found_at: daysAgo(days),
  ...told,
});
const attempt = (id: number, days: number, told: Row = {}): Row =>
  run(id, { account_id: 'one', started_at: daysAgo(days), ...told });
const closed = (seq: number, days: number | null, told: Row = {}): Row =>
  version(1, [], { seq, account_id: 'one', valid_to: days === null ? null : daysAgo(days), ...told });

/** Removes what is older than ten days. @returns how many rows went. */
async function pruned(mirror: Store): Promise<number> {
  const since = clock.now() - 10 * day;
  let removed = 0;
  for await (const some of mirror.prune({ deliveriesSince: since, runsSince: since, versionsSince: since }))
    removed += some;
  return removed;
}

function maintenanceOf(
  mirror: Store,
  retention: Settings['retention'],
  lines: string[] = [],
  serviceTime: { readonly isProven: boolean } = { isProven: true },
): Service {
  return createMaintenance({
    serviceTime,
    mirror,
    secrets: mirror,
    retention,
    clock,
    log: createLog('info', { write: (line) => void lines.push(line) }),
  });
}

async function live(service: Service, work: () => Promise<void>): Promise<void> {
  await service.start();
  await work();
  await service.stop();
}

describe('retention', () => {
  it('K27 removes settled deliveries that are too old, of every account, and no others', async () => {
    const settled = ['applied', 'unchanged', 'not_found', 'ignored'];
    const old = settled.map((outcome, index) => delivery(index + 1, outcome, 11));
    const { mirror, left } = await holding({
      deliveries: [
        ...old,
        delivery(5, 'applied', 11, { account_id: 'two' }),
        delivery(11, 'pending', 11),
        delivery(12, 'parked', 11),
        delivery(13, 'parked', 11, { account_id: 'two' }),
        delivery(21, 'applied', 10),
        delivery(22, 'applied', 9),
        delivery(23, 'unchanged', 0),
      ],
    });
    expect(await pruned(mirror)).toBe(5);
    expect(left('deliveries')).toEqual([11, 12, 13, 21, 22, 23]);
  });

  it('K27 removes findings that are too old, of every account, and no younger ones', async () => {
    const { mirror, left } = await holding({
      findings: [finding(1, 11), finding(2, 40, { account_id: 'two' }), finding(3, 10), finding(4, 1)],
    });
    expect(await pruned(mirror)).toBe(2);
    expect(left('findings')).toEqual([3, 4]);
  });

  it('K27 L98 keeps the last complete run of each kind and account and the first that failed after it, however old, and every run that is under way', async () => {
    const other = { account_id: 'two' };
    const { mirror, left } = await holding({
      runs: [
        attempt(1, 90),
        attempt(2, 80, other),
        attempt(3, 70, { account_id: 'three', outcome: 'failed' }),
        attempt(4, 60, { ...other, outcome: 'incomplete' }),
        attempt(5, 50),
        attempt(6, 40, { kind: 'verify' }),
        attempt(7, 40, { outcome: 'failed' }),
        attempt(8, 40, { outcome: 'abandoned' }),
        attempt(9, 40, { outcome: 'running', finished_at: null }),
        attempt(10, 20, { account_id: 'four' }),
        attempt(11, 10, { outcome: 'failed' }),
        attempt(12, 5, { account_id: 'four' }),
      ],
    });
    await mirror.addAccounts(['one', 'two', 'three', 'four'], {
      accounts: ['one', 'two', 'three', 'four'],
      connectionOf: new Map(),
      settingsFile: 'settings',
    });
    const before = await Promise.all(['one', 'two', 'three', 'four'].map((id) => mirror.runs.lastComplete(id)));
    expect(before).toEqual([daysAgo(50), daysAgo(80), undefined, daysAgo(5)]);
    expect(await pruned(mirror)).toBe(3);
    expect(left('runs')).toEqual([2, 3, 4, 5, 6, 7, 9, 11, 12]);
    expect(await Promise.all(['one', 'two', 'three', 'four'].map((id) => mirror.runs.lastComplete(id)))).toEqual(
      before,
    );
    expect(left('freshness', 'last_complete_sweep').filter((at) => at !== null)).toHaveLength(3);
  });

  it('K27 removes versions that were closed too long ago, and never the current one of a vendor', async () => {
    const { mirror, left } = await holding({
      vendor_versions: [
        closed(1, 11),
        closed(2, 11, { account_id: 'two' }),
        closed(3, 10),
        closed(4, 3),
        closed(5, null, { valid_from: daysAgo(500) }),
        closed(6, null, { account_id: 'two', valid_from: daysAgo(500) }),
      ],
    });
    expect(await pruned(mirror)).toBe(2);
    expect(left('vendor_versions', 'seq')).toEqual([3, 4, 5, 6]);
  });

  it('K27 removes more rows than fit into one batch, among rows that must stay', async () => {
    const many = 1_700;
    const numbers = Array.from({ length: many }, (_, index) => index + 1);
    const stays = (id: number): boolean => id <= 600 || id % 3 === 0;
    const { mirror, left } = await holding({
      deliveries: numbers.map((id) => delivery(id, stays(id) ? 'parked' : 'applied', 20)),
      findings: numbers.map((id) => finding(id, 20)),
      runs: numbers.map((id) => attempt(id, 20, { account_id: id <= 600 ? `account ${id}` : 'one' })),
      vendor_versions: numbers.map((seq) => closed(seq, 20)),
    });
    await pruned(mirror);
    expect(left('deliveries')).toEqual(numbers.filter(stays));
    expect(left('findings')).toEqual([]);
    expect(left('runs')).toEqual([...numbers.slice(0, 600), many]);
    expect(left('vendor_versions', 'seq')).toEqual([]);
  });

  it.each([
    ['no age for any', { deliveries: null, runs: null, versions: null }, [2, 1, 2, 2]],
    ['an age for deliveries alone', { deliveries: day, runs: null, versions: null }, [1, 0, 2, 2]],
    ['L98 an age for runs alone', { deliveries: null, runs: day, versions: null }, [2, 1, 1, 2]],
    ['an age for versions alone', { deliveries: null, runs: null, versions: day }, [2, 1, 2, 1]],
  ])('K27 never removes what has %s in the settings', async (_, retention, expected) => {
    const { mirror, left } = await holding({
      deliveries: [delivery(1, 'applied', 5_000), delivery(2, 'applied', 0.9)],
      findings: [finding(1, 5_000)],
      runs: [attempt(1, 5_000), attempt(2, 4_000)],
      vendor_versions: [closed(1, 5_000), closed(2, 0.9)],
    });
    const lines: string[] = [];
    await live(maintenanceOf(mirror, retention, lines), () => clock.advance(2 * hour));
    expect(lines.join()).not.toContain('failed');
    const counts = ['deliveries', 'findings', 'runs', 'vendor_versions'].map((table) => left(table, '1').length);
    expect(counts).toEqual(expected);
  });
});

describe('retention beside a clock that is wrong', () => {
  const rows = {
    deliveries: [delivery(1, 'applied', 1)],
    runs: [attempt(1, 1), attempt(2, 1)],
    findings: [finding(1, 1)],
  };
  const ages = { deliveries: 90 * day, runs: 30 * day, versions: null };

  it.each([
    ['L21 a clock that an answer proved and that then went a year ahead', [0], 365 * day],
    ['L101 a clock a year ahead at a start, before any answer', [], 365 * day],
    ['L101 a clock a year ahead at a start, which answers contradict', [-365 * day, -365 * day, -365 * day], 365 * day],
    ['L21 a clock a month behind, then right', [0, 31 * day], 0],
  ])('%s removes nothing', async (_, skews, jump) => {
    const { mirror, left } = await holding(rows);
    const wall = { ahead: skews.length === 1 ? 0 : jump };
    const set = { now: () => clock.now() + wall.ahead, monotonic: () => clock.monotonic() };
    const time = new ServiceTime(set, 5_000, () => undefined);
    for (const skew of skews) time.observe({ sentAt: set.now(), answeredAt: set.now(), servedAt: set.now() + skew });
    wall.ahead = jump;
    const service = createMaintenance({
      ...{
        mirror,
        secrets: mirror,
        retention: ages,
        serviceTime: time,
        clock: { ...set, timer: (ms, run) => clock.timer(ms, run), yield: () => clock.yield() },
      },
      log: silentLog,
    });
    await live(service, () => clock.advance(2 * hour));
    expect([left('deliveries'), left('runs'), left('findings')]).toEqual([[1], [1, 2], [1]]);
  });

  it('L21 a clock that an answer proved removes what is old', async () => {
    const { mirror, left } = await holding({ deliveries: [delivery(1, 'applied', 91), delivery(2, 'applied', 89)] });
    const time = new ServiceTime(clock, 5_000, () => undefined);
    const [sentAt, answeredAt] = [clock.now(), clock.now()];
    time.observe({ sentAt, answeredAt, servedAt: undefined });
    await live(maintenanceOf(mirror, ages, [], time), () => clock.advance(2 * hour));
    expect(left('deliveries')).toEqual([2]);
  });
});

describe('retention of many rows', () => {
  const many = 1_700;
  const numbers = Array.from({ length: many }, (_, index) => index + 1);
  const everything = {
    deliveries: numbers.map((id) => delivery(id, id <= 600 ? 'parked' : 'applied', 20)),
    findings: numbers.map((id) => finding(id, 20)),
    runs: numbers.map((id) => attempt(id, 20)),
    vendor_versions: numbers.map((seq) => closed(seq, seq % 2 === 0 ? null : 20)),
  };
  const ages = { deliveries: 10 * day, runs: 10 * day, versions: 10 * day };

  it('K41 pauses after each short batch, and deliveries are stored meanwhile', async () => {
    const { mirror, left } = await holding({ deliveries: numbers.map((id) => delivery(id, 'applied', 20)) });
    const service = maintenanceOf(mirror, ages);
    await service.start();
    onTestFinished(() => service.stop());
    let before = many;
    for (let number = 1; number <= Math.ceil(many / 250); number++) {
      // The clock stands still: only the next batch waits for it.
      for (let turn = 0; turn < 50; turn++) await clock.yield();
      const now = left('deliveries').length;
      expect(before - now).toBeGreaterThan(0);
      expect(before - now).toBeLessThanOrEqual(250);
      await mirror.deliveries.acceptDeliveries([newDelivery(7, { accountId: 'one', receivedAt: clock.now() })]);
      before = now + 1;
      await clock.advance(50);
    }
    expect(before).toBe(Math.ceil(many / 250));
  });

  it('K41 L75 ends within a batch when the daemon stops', async () => {
    const { mirror, left } = await holding(everything);
    const service = maintenanceOf(mirror, ages);
    await service.start();
    // The first batches find only what must stay.
    for (let batch = 0; batch < 10 && left('deliveries').length === many; batch++) {
      for (let turn = 0; turn < 50; turn++) await clock.yield();
      if (left('deliveries').length === many) await clock.advance(50);
    }
    await service.stop();
    const after = left('deliveries').length;
    expect([after < many, after > many - 500, left('runs').length]).toEqual([true, true, many]);
    await clock.advance(2 * hour);
    expect(left('deliveries').length).toBe(after);
  });

  it('K41 finds old rows by age, and old runs by number, in an index', async () => {
    const path = join(temporaryFolder(), 'vendors.db');
    await writeMirror(path, clock, everything);
    const database = await openDatabase(path);
    const prepare = vi.spyOn(database.sqlite, 'prepare');
    await emptied(database);
    const statements = prepare.mock.calls.map(([sql]) => sql).filter((sql) => /^\s*(select|delete)/i.test(sql));
    prepare.mockRestore();
    expect(statements).toHaveLength(8);
    const steps = statements.flatMap((sql) => {
      const values = [...sql.matchAll(/\?/g)].map(() => '[]');
      return ask<{ detail: string }>(path, `EXPLAIN QUERY PLAN ${sql}`, ...values).map(({ detail }) => detail);
    });
    expect(steps.filter((step) => !/^(SEARCH|LIST|CORRELATED|SCAN json_each VIRTUAL)/.test(step))).toEqual([]);
    expect(steps.filter((step) => step.includes('_at<?') || step.includes('valid_to<?'))).toHaveLength(3);
    expect(steps).toContain('SEARCH runs USING INTEGER PRIMARY KEY (rowid>?)');
  });

  it('K41 frees space that new rows use again, so that the file does not grow by it', async () => {
    const path = join(temporaryFolder(), 'vendors.db');
    const rows = { findings: everything.findings, vendor_versions: numbers.map((seq) => closed(seq, 20)) };
    await writeMirror(path, clock, rows);
    const full = statSync(path).size;
    for (let round = 0; round < 3; round++) {
      const database = await openDatabase(path);
      await emptied(database);
      await database.close();
      expect(statSync(path).size).toBe(full);
      await writeMirror(path, clock, rows);
    }
    expect(statSync(path).size).toBeLessThanOrEqual(full * 1.02);
  });
});

async function emptied(database: SqliteDatabase): Promise<number> {
  let removed = 0;
  for (const expiring of [expiringDeliveries, expiringFindings, expiringRuns, expiringVersions])
    for await (const some of removeExpired(database, expiring, clock.now())) removed += some;
  return removed;
}
