import { SqliteConnection } from '../../../src/store/sqlite/connection.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { accountStates, runsShown, type AccountState } from '../../../src/store/account-reports.ts';
import { AccountStates, tablesOfStates } from '../../../src/store/account-states.ts';
import { carriersOf } from '../../../src/store/runs.ts';
import type { Sqlite } from '../../../src/store/sqlite/driver.ts';
import { newPath, openDatabase, otherConnection, vendor, writeMirror } from '../../support/mirror-file.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const [one, two] = ['6BApk', 'other'] as const;
const ids = [one, two, 'unknown'];
const accounts = [one, two].map((account_id) => ({ account_id, added_at: '2026-11-20 09:00:00.000' }));

/** States of a file with two accounts, and the accounts of which they were read since the last look. */
async function opened() {
  const path = newPath();
  const clock = virtualClock({ auto: true });
  const living = new Set(['another', 'third']);
  await writeMirror(path, clock, { _accounts: accounts, vendors: [vendor(1), vendor(1, { account_id: two })] });
  const database = await openDatabase(path);
  let [reads, queriesInTurn, most] = [0, 0, 0];
  const watched = {
    connection: database.connection,
    read: <T>(queries: () => T | Promise<T>): Promise<T> => {
      most = Math.max(most, (queriesInTurn += 1));
      return database.read(queries);
    },
    readOne: <T>(work: () => T | Promise<T>): Promise<T> => database.readOne(work),
  };
  const states = new AccountStates(watched, {
    clock: {
      now: () => clock.now(),
      yield: () => {
        [reads, queriesInTurn] = [reads + 1, 0];
        return Promise.resolve();
      },
    },
    process: { isAlive: (name) => living.has(name) },
  });
  const other = otherConnection(path);
  const look = async () => {
    reads = 0;
    const known = await states.of(ids);
    return { known, reads };
  };
  const anew = async (): Promise<Map<string, AccountState>> => {
    const state = accountStates(new SqliteConnection(other), clock);
    const names = carriersOf(new SqliteConnection(other), runsShown);
    const found = new Map<string, AccountState>();
    for (const id of ids) {
      const known = await state(id, new Map((await names(id)).map((name) => [name, living.has(name)])));
      if (known) found.set(id, known);
    }
    return found;
  };
  return { clock, sqlite: database.sqlite, other, living, look, anew, inTurn: () => most };
}

const of = (account: string) => `WHERE account_id = '${account}'`;

/** By number, so that rows are met again. */
const writes: readonly ((account: string, n: number) => string)[] = [
  (account) => `UPDATE _accounts SET accepted_unreadable = accepted_unreadable + 1 ${of(account)}`,
  (account) => `DELETE FROM _accounts ${of(account)}`,
  (account) =>
    `INSERT OR IGNORE INTO _accounts (account_id, added_at) VALUES ('${account}', '2026-11-20 09:00:00.000')`,
  (_, n) => `UPDATE _reading_counter SET clock_ahead_ms = ${n}`,
  (
    account,
    n,
  ) => `INSERT OR IGNORE INTO vendors (account_id, vendorid, vendor_name, vis_state, presence, first_seen_at, changed_at, source, read_seq, held_since_ms, raw)
    VALUES ('${account}', ${n}, 'V', ${n % 3}, 'present', '2026-11-20', '2026-11-20', 'pull', 1, 0, '{}')`,
  (account, n) =>
    `UPDATE vendors SET presence = 'suspect', unreadable_fields = '["phone"]' ${of(account)} AND vendorid = ${n}`,
  (account, n) => `DELETE FROM vendors ${of(account)} AND vendorid = ${n}`,
  (
    account,
    n,
  ) => `INSERT OR REPLACE INTO dirty_vendors (account_id, vendorid, generation, marked_at, due_at, reason, last_error)
    VALUES ('${account}', ${n}, 1, '2026-11-20 10:00:0${n}.000', ${n % 2 === 0 ? 'NULL' : `'2026-11-20'`}, 'delivery', 'why ${n}')`,
  (account, n) => `DELETE FROM dirty_vendors ${of(account)} AND vendorid = ${n}`,
  (account, n) =>
    `INSERT OR REPLACE INTO _sweep_requests (account_id, generation, last_ms, asked_at) VALUES ('${account}', ${n}, 0, '2026-11-20 11:00:0${n}.000')`,
  (account, n) => `INSERT OR REPLACE INTO _request_failures (account_id, requests, first_at, last_at, code, message)
    VALUES ('${account}', ${n}, '2026-11-20', '2026-11-20', 'network', 'm')`,
  (account) => `DELETE FROM _request_failures ${of(account)}`,
  (account, n) => `INSERT INTO runs (account_id, kind, "trigger", started_at, outcome, process, began_seq)
    VALUES ('${account}', 'pull', 'command', '2026-11-20 11:00:0${n}.000', 'running', '${n % 2 === 0 ? 'another' : 'third'}', 0)`,
  (account) =>
    `UPDATE runs SET outcome = 'complete', finished_at = '2026-11-20 12:00:00.000', safe_as_of = '2026-11-20' ${of(account)}`,
  (account, n) => `DELETE FROM runs ${of(account)} AND id % 4 = ${n % 4}`,
  (account, n) => `INSERT INTO findings (run_id, account_id, vendorid, kind, fields, found_at)
    SELECT id, '${account}', ${n}, 'missed_update', '[]', '2026-11-20 12:00:0${n}.000' FROM runs ${of(account)} ORDER BY id DESC LIMIT 1`,
  (account, n) => `UPDATE findings SET explained_at = '2026-11-20 13:00:00.000' ${of(account)} AND vendorid = ${n}`,
  (account) => `DELETE FROM findings ${of(account)}`,
  (account, n) => `INSERT OR REPLACE INTO callbacks (account_id, callbackid, event, uri, verified, checked_at)
    VALUES ('${account}', ${n}, 'bill_vendor', 'https://x.example', ${n % 2}, '2026-11-20')`,
  (account) => `DELETE FROM callbacks ${of(account)}`,
  (account, n) =>
    `INSERT OR IGNORE INTO _unknown_callbacks (account_id, callbackid, found_at) VALUES ('${account}', ${n}, '2026-11-20')`,
  (
    account,
    n,
  ) => `INSERT OR REPLACE INTO _registration_refusals (account_id, event, refused_at, code, message, uri, attempts)
    VALUES ('${account}', 'bill_vendor', '2026-11-20', 'forbidden', 'no', 'https://x.example', ${n})`,
  (account, n) => `INSERT INTO deliveries (account_id, received_at, name, object_id, outcome)
    VALUES ('${account}', '2026-11-20 09:00:0${n}.000', 'bill_vendor.update', ${n}, 'pending')`,
  (account, n) =>
    `UPDATE deliveries SET outcome = 'unchanged', settled_at = '2026-11-20' ${of(account)} AND object_id = ${n}`,
  (account, n) =>
    `INSERT OR REPLACE INTO undecided_vendors (account_id, vendorid, since, code, error) VALUES ('${account}', ${n}, '2026-11-20', 'network', 'e')`,
  (account) => `DELETE FROM undecided_vendors ${of(account)}`,
  (account, n) => `INSERT OR REPLACE INTO _refusals (account_id, outcome, refused, first_at, last_at, recent, recent_at)
    VALUES ('${account}', 'wrong_signature', ${n}, '2026-11-20', '2026-11-20', 1, '2026-11-20')`,
];

const step = fc.record({
  what: fc.constantFrom('written', 'written', 'written', 'undone', 'elsewhere', 'look', 'day', 'death'),
  write: fc.constantFrom(...writes),
  account: fc.constantFrom(one, two),
  n: fc.nat(5),
});

describe('states of accounts', () => {
  it(
    'are after any writes, by this process or another, and whoever ends, those that are read anew',
    { timeout: 60_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
          const { clock, sqlite, other, living, look, anew } = await opened();
          for (const { what, write, account, n } of steps) {
            if (what === 'day') await clock.advance(86_400_000);
            else if (what === 'death') living.delete('another');
            else if (what === 'elsewhere') other.exec(write(account, n));
            else if (what === 'written') sqlite.exec(write(account, n));
            else if (what === 'undone') sqlite.exec(`BEGIN; ${write(account, n)}; ROLLBACK`);
            if (what === 'look' || what === 'written') expect((await look()).known).toEqual(await anew());
          }
          expect((await look()).known).toEqual(await anew());
        }),
        { numRuns: 60 },
      );
    },
  );

  it('are read again of the account that was written, of all after a write by another process and on another day, and while a run is under way', async () => {
    const { clock, sqlite, other, look, living } = await opened();
    const unknown = 1;
    expect((await look()).reads).toBe(2 + unknown);
    expect((await look()).reads).toBe(unknown);
    sqlite.exec(writes[0]!(one, 1));
    expect((await look()).reads).toBe(1 + unknown);
    sqlite.exec('UPDATE _reading_counter SET run_id = run_id + 1');
    expect((await look()).reads).toBe(unknown);
    other.exec(writes[0]!(two, 1));
    expect((await look()).reads).toBe(2 + unknown);
    await clock.advance(86_400_000);
    expect((await look()).reads).toBe(2 + unknown);
    sqlite.exec(writes[12]!(two, 2));
    expect((await look()).known.get(two)?.runs).toMatchObject([{ outcome: 'running' }]);
    expect((await look()).reads).toBe(1 + unknown);
    living.delete('another');
    expect((await look()).known.get(two)?.runs).toMatchObject([{ outcome: 'abandoned' }]);
    expect((await look()).reads).toBe(unknown);
  });

  it('K24 are read of one account in each turn of the event loop', async () => {
    const { look, inTurn } = await opened();
    await look();
    expect(inTurn()).toBe(1);
  });

  it('are made of the tables that are watched', async () => {
    const { sqlite } = await openDatabase(newPath());
    const texts = new Set<string>();
    const noted = {
      prepare: (text: string) => (texts.add(text), sqlite.prepare(text)),
      function: () => undefined,
    } as unknown as Sqlite;
    sqlite.exec(`INSERT INTO _accounts (account_id, added_at) VALUES ('${one}', '2026-11-20')`);
    for (const write of writes.filter((_, at) => at !== 1)) sqlite.exec(write(one, 2));
    await carriersOf(new SqliteConnection(noted), runsShown)(one);
    await accountStates(new SqliteConnection(noted), { now: () => 0 })(one, new Map());
    const byRoot = new Map(
      sqlite
        .prepare<[], { rootpage: number; tbl_name: string }>(
          'SELECT rootpage, tbl_name FROM sqlite_schema WHERE rootpage > 0',
        )
        .all()
        .map(({ rootpage, tbl_name }) => [rootpage, tbl_name]),
    );
    const read = [...texts].flatMap((text) =>
      sqlite
        .prepare<unknown[], { opcode: string; p2: number; p3: number }>(`EXPLAIN ${text}`)
        .all(...Array.from({ length: text.split('?').length - 1 }, () => 1))
        .filter(({ opcode, p3 }) => opcode === 'OpenRead' && p3 === 0)
        .map(({ p2 }) => byRoot.get(p2)),
    );
    // Two have no rows; of the counter only the clock is shown.
    const others = ['_freshness_types', '_webhook_health_types', '_reading_counter'];
    expect(new Set(read)).toEqual(new Set([...tablesOfStates, ...others]));
  });
});
