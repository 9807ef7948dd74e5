/**
 * Forgets fields, a vendor or an account: in every row, in the history, in the bytes of the file and its journal, or of the tables of a server. No daemon
 * may run meanwhile, because all of it is rebuilt, and because one with other settings would bring fields back.
 *
 * In a file, rows are deleted with `secure_delete`, the file is rebuilt with VACUUM, because earlier deletions left their bytes in free pages
 * and gaps, and the journal is emptied. Of PostgreSQL, all tables are rewritten (`postgres/rewrite.ts`); its own journal, standbys and backups
 * are its administrator's. Everything before is one transaction, and the next `forget` completes what a killed one left undone. A
 * forgotten vendor stays away while the service still lists it; for that its id is kept (`_forgotten_vendors`), and it counts as seen, so
 * that the list can still be proven complete. Those ids stay where the whole account is forgotten, which only one is that no settings name any
 * more: should it be mirrored again, they stay away.
 */
import { sql } from 'kysely';
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { timestamp, type Clock } from '../domain/clock.ts';
import { MirrorError } from '../domain/errors.ts';
import { textWithoutMembers } from '../domain/json-cursor.ts';
import { sizeInWords } from '../domain/size.ts';
import { balanceFields, columnFields, type BalanceField, type ColumnField } from '../domain/vendor.ts';
import { takeSideLock } from './files/locks.ts';
import { refuseMoved } from './files/moved.ts';
import { resolvedPath } from './files/own-files.ts';
import type { PostgresMirror } from './postgres/open.ts';
import { writeAllAgain } from './publications.ts';
import { mirrorOptions, type MirrorFileOptions } from './reader.ts';
import type { Database } from './sql/database.ts';
import { SqliteDatabase } from './sqlite/database.ts';
import { SqliteError, type Sqlite } from './sqlite/driver.ts';
import { freeBytes } from './sqlite/file-systems.ts';
import type { VendorKey, VendorTable } from './sql/schema.ts';
import { mirrorSql, ofVendor, statement, type Connection } from './sql/statement.ts';
import { balanceKinds, ForgottenVendors, repairedRaw } from './vendors.ts';

/** Where it is forgotten. */
interface Place {
  readonly database: Database;
  /** Overwrites what was deleted. @throws MirrorError `database_locked` where another program is in the way. */
  overwrite(): Promise<void>;
  close(): Promise<void>;
}

interface ForgetPostgres extends PostgresMirror {
  /** Ends it; what was removed by then stays removed. */
  readonly interrupted: AbortSignal;
}

export class Forgetter {
  readonly #place: Place;
  readonly #database: Database;
  readonly #clock: Clock;

  private constructor(place: Place, clock: Clock) {
    this.#place = place;
    this.#database = place.database;
    this.#clock = clock;
  }

  /**
   * Opens the mirror of a file exclusively; the caller closes it.
   * @throws MirrorError `already_running` while a daemon uses the mirror, `disk_full` where there is no room, and as `Database.open`.
   */
  static async open(file: MirrorFileOptions): Promise<Forgetter> {
    const lock = takeSideLock(file.path, file.clock.now());
    try {
      const database = await SqliteDatabase.open(mirrorOptions(file));
      const overwrite = (): Promise<void> => rebuild(database);
      const close = (): Promise<void> => database.close().finally(() => lock.release());
      try {
        await database.read(() => refuseMoved(database.connection, file.path));
        assertRoom(database);
        overwriteDeleted(database.sqlite);
        return new Forgetter({ database, overwrite, close }, file.clock);
      } catch (error) {
        await database.close();
        throw error;
      }
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /**
   * The same for one in PostgreSQL, whose daemon nobody becomes meanwhile.
   * @throws MirrorError `already_running` while a daemon serves it, and as `openPostgresMirror`.
   */
  static async openPostgres({ interrupted, ...options }: ForgetPostgres): Promise<Forgetter> {
    const { openPostgres } = await import('./postgres/open.ts');
    const { rewriteTables } = await import('./postgres/rewrite.ts');
    const { database, process } = await openPostgres(options);
    const close = async (): Promise<void> => {
      await process.stop();
      await database.close();
    };
    try {
      const [daemon] = await process.serving();
      if (daemon)
        throw new MirrorError('already_running', `A daemon on ${daemon.host} serves ${database.path}.`, {
          remedy: 'Stop every daemon of this mirror, those that only wait too, and run this again.',
        });
      await process.beDaemon();
      const overwrite = (): Promise<void> => rewriteTables(database, interrupted);
      return new Forgetter({ database, overwrite, close }, options.clock);
    } catch (error) {
      await close();
      throw error;
    }
  }

  /**
   * Forgets fields of all vendors, or of one account's. Repeating the call completes one that was killed.
   * @throws MirrorError `database_locked` where another program holds the journal.
   */
  async fields(names: readonly string[], accountId?: string): Promise<ForgottenFields> {
    const forgotten = await this.#database.write(() => {
      writeAllAgain(this.#database.connection);
      return forgetFields(this.#database.connection, new Set(names), accountId);
    });
    await this.#place.overwrite();
    return forgotten;
  }

  /**
   * Forgets a vendor; no reading stores it again.
   * @returns whether it was stored, or forgotten before; otherwise nothing is done.
   * @throws MirrorError as `fields`.
   */
  async vendor(account_id: string, vendorid: number): Promise<boolean> {
    const { connection: db } = this.#database;
    const now = timestamp(this.#clock.now());
    const known = await this.#database.write(() => {
      writeAllAgain(db);
      return forgetVendor(db, { account_id, vendorid }, now);
    });
    if (known) await this.#place.overwrite();
    return known;
  }

  /**
   * Forgets an account with all its rows, but for the ids of vendors that were forgotten before. Nobody mirrors it any more, says the caller.
   * Repeating the call completes one that was killed.
   * @returns how many vendors of it were stored, and which callbacks of it were known.
   * @throws MirrorError as `fields`.
   */
  async account(account_id: string): Promise<ForgottenAccount> {
    const { connection: db } = this.#database;
    const forgotten = await this.#database.write(() => {
      writeAllAgain(db);
      return forgetRowsOf(db, account_id);
    });
    await this.#place.overwrite();
    // What names it stays until then, so that it can be asked for again.
    await this.#database.write(() => deleteOf(db, '_accounts', account_id));
    return forgotten;
  }

  close(): Promise<void> {
    return this.#place.close();
  }
}

/** How many rows contained one of the fields. */
interface ForgottenFields {
  readonly vendors: number;
  readonly versions: number;
}

interface ForgottenAccount {
  readonly vendors: number;
  readonly callbacks: readonly number[];
}

/** Rows that are read at a time. */
const chunk = 1_000;

/**
 * Removes the fields from vendors and their history; that and when they changed stays. Runs inside a transaction.
 * @param accountId all accounts by default
 */
async function forgetFields(db: Connection, names: ReadonlySet<string>, accountId?: string): Promise<ForgottenFields> {
  const accounts = accountId === undefined ? await accountsIn(db) : [accountId];
  let [vendors, versions] = [0, 0];
  for (const account_id of accounts) {
    vendors += await stripVendors(db, account_id, names);
    versions += await stripVersions(db, account_id, names);
    for (const field of columnFields) if (names.has(field)) clearColumn(db, account_id, field);
    for (const field of balanceFields) if (names.has(field)) dropBalances(db, account_id, field);
    if (names.has('tax_defaults'))
      statement(db)<{ account_id: string }>`DELETE FROM vendor_tax_defaults WHERE account_id = ${'account_id'}`.send({
        account_id,
      });
  }
  return { vendors, versions };
}

async function accountsIn(db: Connection): Promise<string[]> {
  return (
    await statement<object, { account_id: string }>(db, () =>
      mirrorSql.selectFrom('_accounts').select('account_id'),
    ).all({})
  ).map(({ account_id }) => account_id);
}

type VendorJson = VendorKey & Pick<VendorTable, 'raw' | 'unknown_fields' | 'unreadable_fields'>;

async function stripVendors(db: Connection, account_id: string, names: ReadonlySet<string>): Promise<number> {
  const some = statement(db)<{ account_id: string; after: number }, VendorJson>`
    SELECT account_id, vendorid, raw, unknown_fields, unreadable_fields FROM vendors
    WHERE account_id = ${'account_id'} AND vendorid > ${'after'} ORDER BY vendorid LIMIT ${chunk}`;
  const put = statement(db)<VendorJson>`
    UPDATE vendors
    SET raw = ${'raw'}, unknown_fields = ${'unknown_fields'}, unreadable_fields = ${'unreadable_fields'}
    WHERE account_id = ${'account_id'} AND vendorid = ${'vendorid'}`;
  let changed = 0;
  const ordered = eachRow(
    (after) => some.all({ account_id, after }),
    ({ vendorid }) => vendorid,
  );
  for await (const row of ordered) {
    const raw = stripped(row.raw, names);
    const unknown = row.unknown_fields === null ? null : stripped(row.unknown_fields, names);
    if (raw === row.raw && unknown === row.unknown_fields) continue;
    const unreadable = (JSON.parse(row.unreadable_fields ?? '[]') as string[]).filter((field) => !names.has(field));
    changed += await put.run({
      ...row,
      raw,
      unknown_fields: unknown === '{}' ? null : unknown,
      unreadable_fields: unreadable.length === 0 ? null : JSON.stringify(unreadable),
    });
  }
  return changed;
}

/** All rows, in chunks. @param some the rows after a number @param numberOf the number of a row */
async function* eachRow<Row>(
  some: (after: number) => Promise<Row[]>,
  numberOf: (row: Row) => number,
): AsyncGenerator<Row, void, void> {
  let last: Row | undefined;
  do {
    const rows = await some(last === undefined ? 0 : numberOf(last));
    yield* rows;
    last = rows.at(-1);
  } while (last !== undefined);
}

interface VersionJson {
  readonly seq: number;
  readonly raw: string;
}

async function stripVersions(db: Connection, account_id: string, names: ReadonlySet<string>): Promise<number> {
  const some = statement(db)<{ account_id: string; after: number }, VersionJson>`
    SELECT seq, raw FROM _vendor_versions
    WHERE account_id = ${'account_id'} AND seq > ${'after'} AND raw IS NOT NULL ORDER BY seq LIMIT ${chunk}`;
  const put = statement(db)<VersionJson>`UPDATE _vendor_versions SET raw = ${'raw'} WHERE seq = ${'seq'}`;
  let changed = 0;
  for await (const row of eachRow(
    (after) => some.all({ account_id, after }),
    ({ seq }) => seq,
  )) {
    const raw = stripped(row.raw, names);
    if (raw !== row.raw) changed += await put.run({ ...row, raw });
  }
  return changed;
}

/** Damaged JSON is removed completely, because its content is unknown. */
function stripped(json: string, names: ReadonlySet<string>): string {
  return textWithoutMembers(repairedRaw(json), names);
}

function clearColumn(db: Connection, account_id: string, field: ColumnField): void {
  statement<{ account_id: string }>(db, (at) =>
    mirrorSql
      .updateTable('vendors')
      .set({ [field]: null })
      .where('account_id', '=', at('account_id'))
      .where(field, 'is not', null),
  ).send({ account_id });
}

function dropBalances(db: Connection, account_id: string, field: BalanceField): void {
  const kind = balanceKinds[field];
  statement(db)<{ account_id: string; kind: string }>`
    DELETE FROM vendor_balances WHERE account_id = ${'account_id'} AND kind = ${'kind'}`.send({ account_id, kind });
  // Like a vendor without an amount.
  const nothing = { [kind]: null, [`${kind}_minor`]: null, [`${kind}_amount`]: 0, [`${kind}_units`]: 0 };
  statement<{ account_id: string }>(db, (at) =>
    mirrorSql.updateTable('_balance_spans').set(nothing).where('account_id', '=', at('account_id')),
  ).send({ account_id });
  statement(db)<{ account_id: string }>`
    DELETE FROM _balance_spans WHERE account_id = ${'account_id'} AND outstanding IS NULL AND overdue IS NULL`.send({
    account_id,
  });
}

const ofVendors = [
  'vendor_balances',
  'vendor_tax_defaults',
  '_balance_spans',
  '_vendor_versions',
  'findings',
  'dirty_vendors',
  'undecided_vendors',
  '_lagging_copies',
  '_unsteady_fields',
  '_edits',
  'vendors',
] as const;

/**
 * Removes the vendor with its history, deliveries and marks, and records its id, so that no reading stores it again. Runs inside a
 * transaction.
 * @param at timestamp of ours
 * @returns whether it was stored, or forgotten before; otherwise nothing is done.
 */
async function forgetVendor(db: Connection, key: VendorKey, at: string): Promise<boolean> {
  const stored = await statement(db)<VendorKey, { vendor_name: string | null }>`
    SELECT vendor_name FROM vendors WHERE account_id = ${'account_id'} AND vendorid = ${'vendorid'}`.get(key);
  const forgotten = new ForgottenVendors(db);
  if (!stored && !(await forgotten.has(key))) return false;
  if (stored?.vendor_name != null)
    statement(db)<{ account_id: string; vendor_name: string }>`
      DELETE FROM _creations WHERE account_id = ${'account_id'} AND vendor_name = ${'vendor_name'}`.send({
      account_id: key.account_id,
      vendor_name: stored.vendor_name.trim(),
    });
  for (const table of ofVendors)
    statement<VendorKey>(db, (place) => ofVendor(mirrorSql.deleteFrom(table), place)).send(key);
  statement(db)<VendorKey>`
    DELETE FROM _notify_queue WHERE account_id = ${'account_id'} AND vendorid = ${'vendorid'}`.send(key);
  statement(db)<VendorKey>`
    DELETE FROM deliveries
    WHERE account_id = ${'account_id'} AND object_id = ${'vendorid'} AND name LIKE 'bill_vendor.%'`.send(key);
  forgotten.add(key, at);
  return true;
}

/** Tables with rows of an account, besides those with rows of its vendors, its own in `_accounts`, and the ids of forgotten vendors. */
const ofAccounts = [
  '_notify_queue',
  'deliveries',
  'runs',
  'gateways',
  'callbacks',
  '_added_accounts',
  '_announced_since',
  '_creations',
  '_detail_fields',
  '_known_fields',
  '_lagging_lists',
  '_not_honoured',
  '_page_confirmations',
  '_refusals',
  '_registration_refusals',
  '_request_failures',
  '_shown_states',
  '_sweep_requests',
  '_unknown_callbacks',
  '_webhook_days',
] as const;

/** Runs inside a transaction. */
async function forgetRowsOf(db: Connection, account_id: string): Promise<ForgottenAccount> {
  const stored = statement(db)<{ account_id: string }, { vendors: number }>`
    SELECT count(*) AS vendors FROM vendors WHERE account_id = ${'account_id'}`;
  const known = statement(db)<{ account_id: string }, { callbackid: number }>`
    SELECT callbackid FROM callbacks WHERE account_id = ${'account_id'} ORDER BY callbackid`;
  const { vendors = 0 } = (await stored.get({ account_id })) ?? {};
  const callbacks = (await known.all({ account_id })).map(({ callbackid }) => callbackid);
  for (const table of [...ofVendors, ...ofAccounts]) deleteOf(db, table, account_id);
  return { vendors, callbacks };
}

/** All tables that are emptied of a forgotten account. */
export const emptiedTables: readonly string[] = [...ofVendors, ...ofAccounts, '_accounts'];

type OfAccounts = (typeof ofVendors)[number] | (typeof ofAccounts)[number] | '_accounts';

function deleteOf(db: Connection, table: OfAccounts, account_id: string): void {
  statement(db)<{ account_id: string }>`DELETE FROM ${sql.table(table)} WHERE account_id = ${'account_id'}`.send({
    account_id,
  });
}

/** Overwrites deleted data in the file and its journal. */

/** The rebuilt file is in the journal and in a temporary file while the old one still exists. */
const copies = 2;

/** @throws MirrorError `disk_full` where there is no room to rebuild the file. */
function assertRoom(database: SqliteDatabase): void {
  const needed = copies * (database.fileSizes()?.databaseBytes ?? 0);
  const free = freeBytes(dirname(database.path));
  if (free < needed)
    throw new MirrorError(
      'disk_full',
      `To overwrite what is forgotten, ${database.path} is rebuilt, which needs ${sizeInWords(needed)} of free space beside it; only ${sizeInWords(free)} are free. Nothing was changed.`,
    );
}

/** Makes this connection overwrite what it deletes with zeros, also in the file that VACUUM writes. */
function overwriteDeleted(sqlite: Sqlite): void {
  sqlite.pragma('secure_delete = ON');
}

/**
 * Rebuilds the file, because earlier deletions left their bytes in free pages and gaps; then copies the journal into the file, which
 * replaces all pages, and truncates the journal.
 * @throws MirrorError `database_locked` where another program reads the file, and so keeps the journal.
 */
async function rebuild(database: SqliteDatabase): Promise<void> {
  const { sqlite, path } = database;
  await database.retryWhileLocked(() => sqlite.exec('VACUUM'));
  try {
    await database.retryWhileLocked(() => emptyJournal(sqlite));
  } catch (error) {
    if (!(error instanceof MirrorError) || error.code !== 'database_locked') throw error;
    throw new MirrorError(
      'database_locked',
      `What was to be forgotten was removed from ${path}, but its journal still contains it while another program reads the file: end that program, and run this again.`,
      { cause: error },
    );
  }
}

function emptyJournal(sqlite: Sqlite): void {
  const [result] = sqlite.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
  if (result?.busy !== 0) throw new SqliteError('The journal is in use.', 'SQLITE_BUSY');
}

/** Copies that may still contain what was forgotten: damaged mirrors that were moved aside, and existing files at the published paths. */
export function olderCopies(database: string, published: readonly string[]): string[] {
  const path = resolvedPath(database);
  const moved = readdirSync(dirname(path)).filter((name) => name.startsWith(`${basename(path)}.corrupt-`));
  return [...moved.map((name) => join(dirname(path), name)), ...existing(published)];
}

/** Those of the files that exist. */
export function existing(files: readonly string[]): string[] {
  return files.filter((file) => existsSync(file));
}

/** The names that occur in a stored record or an earlier version; searches all of them. */
export async function storedFields(db: Connection, names: readonly string[]): Promise<string[]> {
  const inRecords = statement(db)<{ part: string }, { found: number }>`
    SELECT EXISTS (SELECT 1 FROM vendors WHERE instr(raw, ${'part'}) > 0) OR
     EXISTS (SELECT 1 FROM _vendor_versions WHERE instr(raw, ${'part'}) > 0) AS found`;
  const isFound = async (part: string): Promise<boolean> => (await inRecords.get({ part }))?.found === 1;
  const found: string[] = [];
  for (const name of names) if ((await isFound(`"${name}":`)) || (await isFound(`"${name}" :`))) found.push(name);
  return found;
}
