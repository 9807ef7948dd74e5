/**
 * A mirror in a file, with its secrets, copied into two empty schemas of a PostgreSQL, where it goes on in the place of the file.
 *
 * Nobody uses the file meanwhile: the lock of its daemon is held, and its write lock, and a process that is there is refused. Everything on
 * the server is one transaction: killed at any moment, it leaves nothing there. The last step but one notes in the file that it was moved
 * (`files/moved.ts`), the last one commits. Where it is not certain whether the server has committed, the note stays, and the next attempt
 * finds out.
 *
 * It is the same mirror: its identity, its secrets and what receivers were sent are the same, so callbacks, deliveries and outgoing webhooks
 * go on. The change feed begins a new epoch, and all numbers are a million higher: what the file gave out before, and might give out again if
 * it went on by a mistake, is never mistaken for something of this history. Places in the feed that are kept here move along; cursors that
 * others keep are refused, with where to begin.
 */
import { sql } from 'kysely';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { timestamp, type Clock, type Random } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import type { PostgresStore } from '../../settings/parse.ts';
import { isMirrorAt } from '../files/identity.ts';
import { isUsedAt, takeSideLock, type SideLock } from '../files/locks.ts';
import { moveOf, noteMove, refuseMoved, takeBackMove } from '../files/moved.ts';
import { isEmptySchema, migrateWithin } from '../postgres/migrate.ts';
import { mirrorServer, secretsServer } from '../postgres/server.ts';
import { confirmedOnDisk, PostgresSession, type PostgresServer } from '../postgres/session.ts';
import { mirrorOptions, type MirrorFileOptions } from '../reader.ts';
import { cursorParts, resolveCursor } from '../reports/feed-cursor.ts';
import { sealedColumns } from '../secrets/sealed-columns.ts';
import type { Sealing } from '../secrets/sealing.ts';
import { secretsSealing } from '../secrets/secrets.ts';
import type { Connection, None } from '../sql/statement.ts';
import { fileStatement } from '../sqlite/connection.ts';
import { SqliteDatabase } from '../sqlite/database.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import { readMigrations } from '../sqlite/migrate.ts';
import { copyTable, planCopy, rowsOf, type Cells, type CopiedTable } from './tables.ts';

/** What is copied, and whereto. */
export interface MirrorCopy extends MirrorFileOptions {
  /** The path of the secrets; nothing is copied where no file is. */
  readonly secrets: string;
  readonly to: PostgresStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly interrupted: AbortSignal;
  readonly onProgress: (progress: { readonly percent: number }) => void;
}

export interface CopyReport {
  /** As messages name it. */
  readonly place: string;
  /** Whether an earlier attempt had copied it, so that nothing was left to do. */
  readonly wasThere: boolean;
  /** Rows by table, those of the secrets with the name of their schema. */
  readonly rows: Readonly<Record<string, number>>;
  /** Tables and columns of the file that somebody made there, and that were not copied. */
  readonly left: readonly string[];
}

/** By how much all numbers are higher than in the file. */
const jump = 1_000_000;

/**
 * Copies the mirror, and notes in the file that it was moved.
 * @throws MirrorError `settings_invalid` where there is no mirror; `already_running` while a daemon uses it, `database_locked` while a command
 * does; `database_unusable` where it was moved to another place; `secrets_taken` where the secrets are of another mirror; `postgres_tables`
 * where the schemas are not empty, or hold others rows than were copied; of the server, the key and the files.
 */
export async function copyToPostgres(copy: MirrorCopy): Promise<CopyReport> {
  const sealing = secretsSealing(copy.to, copy.random);
  const source = await Source.open(copy);
  try {
    return await new CopyRun(copy, source, sealing).run();
  } finally {
    await source.close();
  }
}

/**
 * Lets the file go on, although it was moved.
 * @returns the place that it was moved to; undefined where it was not moved.
 * @throws MirrorError as `copyToPostgres`.
 */
export async function takeBackCopy(file: MirrorFileOptions & Pick<MirrorCopy, 'secrets'>): Promise<string | undefined> {
  const source = await Source.open(file);
  try {
    const { connection } = source.mirror;
    const move = await source.mirror.read(() => moveOf(connection));
    if (move) await source.mirror.write(() => takeBackMove(connection));
    return move?.place;
  } finally {
    await source.close();
  }
}

/** The files, which no daemon uses meanwhile. */
class Source {
  readonly mirror: SqliteDatabase;
  readonly secrets: SqliteDatabase | undefined;
  readonly #lock: SideLock;

  private constructor(mirror: SqliteDatabase, secrets: SqliteDatabase | undefined, lock: SideLock) {
    this.mirror = mirror;
    this.secrets = secrets;
    this.#lock = lock;
  }

  static async open(files: MirrorFileOptions & Pick<MirrorCopy, 'secrets'>): Promise<Source> {
    const { path, secrets: secretsPath, migrations, clock, random } = files;
    if (isMissing(path))
      throw new MirrorError('settings_invalid', `There is no mirror ${path}, so there is nothing to copy.`, {
        remedy: 'Check `database` in the settings, and whether its folder is mounted.',
      });
    const lock = takeSideLock(path, clock.now());
    let mirror: SqliteDatabase | undefined;
    try {
      mirror = await SqliteDatabase.open(mirrorOptions(files));
      const ofSecrets = readMigrations(join(migrations, 'secrets'));
      const secrets = isMissing(secretsPath)
        ? undefined
        : await SqliteDatabase.open({ path: secretsPath, mode: 0o600, migrations: ofSecrets, clock, random });
      return new Source(mirror, secrets, lock);
    } catch (error) {
      await mirror?.close();
      lock.release();
      throw error;
    }
  }

  async close(): Promise<void> {
    try {
      await this.secrets?.close();
      await this.mirror.close();
    } finally {
      this.#lock.release();
    }
  }
}

function isMissing(path: string): boolean {
  return !existsSync(path) || statSync(path).size === 0;
}

class CopyRun {
  readonly #copy: MirrorCopy;
  readonly #source: Source;
  readonly #sealing: Sealing;
  readonly #place: string;
  readonly #mirrorId: string;
  readonly #servers: { readonly mirror: PostgresServer; readonly secrets: PostgresServer };
  readonly #rows: Record<string, number> = {};
  readonly #left: string[] = [];
  /** Whether the file says that it was moved, and whether the server was asked to commit. */
  #stage: 'copying' | 'noted' | 'committing' = 'copying';
  #copied = 0;
  #percent = -1;
  #all = 0;

  constructor(copy: MirrorCopy, source: Source, sealing: Sealing) {
    const { to } = copy;
    this.#copy = copy;
    this.#source = source;
    this.#sealing = sealing;
    this.#place = `${to.to.name}, schema ${to.schema}`;
    this.#servers = { mirror: mirrorServer(to), secrets: secretsServer(to) };
    this.#mirrorId = identityIn(source.mirror.sqlite);
  }

  async run(): Promise<CopyReport> {
    const { mirror } = this.#source;
    const session = await PostgresSession.open(this.#servers.mirror, this.#copy.interrupted);
    const of = { place: this.#place, left: this.#left, rows: this.#rows };
    try {
      const wasThere = await session.atomically(async () => {
        // Otherwise the file would say that it was moved, and the server could lose it.
        await session.run(confirmedOnDisk);
        if (await this.#isDone(session)) return true;
        await this.#makeSchemas(session);
        await this.#whileNobodyElseWrites(async () => {
          await this.#copyAll(session);
          noteMove(mirror.connection, { place: this.#place, moved_at: timestamp(this.#copy.clock.now()) });
        });
        this.#stage = 'noted';
        // One that began meanwhile may not have seen the note.
        this.#refuseOthers();
        this.#stage = 'committing';
        return false;
      });
      return { ...of, wasThere };
    } catch (error) {
      if (this.#stage === 'noted') await mirror.write(() => takeBackMove(mirror.connection));
      if (this.#stage === 'committing') throw uncertain(this.#place, error);
      throw error;
    } finally {
      session.close();
    }
  }

  /** The write lock is held while `work` runs. */
  async #whileNobodyElseWrites(work: () => Promise<void>): Promise<void> {
    const { mirror, secrets } = this.#source;
    const version = await secrets?.connection.version();
    await mirror.write(async () => {
      this.#refuseOthers();
      await work();
      if ((await secrets?.connection.version()) !== version)
        throw new MirrorError('database_locked', 'The secrets were changed while they were copied; nothing was kept.');
    });
  }

  #refuseOthers(): void {
    const { path } = this.#source.mirror;
    if (isUsedAt(path))
      throw new MirrorError('database_locked', `Another command uses ${path}; nothing was copied.`, {
        remedy: 'Wait until it has ended, and run this again.',
      });
  }

  /**
   * Whether an earlier attempt has copied it there.
   * @throws MirrorError `database_unusable`, `postgres_tables` where something else is there, or the file was moved elsewhere.
   */
  async #isDone(session: PostgresSession): Promise<boolean> {
    const { connection, path } = this.#source.mirror;
    const move = await this.#source.mirror.read(() => moveOf(connection));
    if (move && move.place !== this.#place) await this.#source.mirror.read(() => refuseMoved(connection, path));
    const { mirror, secrets } = this.#servers;
    const [isEmpty, isEmptyOfSecrets] = [await isEmptySchema(session, mirror), await isEmptySchema(session, secrets)];
    if (isEmpty && isEmptyOfSecrets) return false;
    if (!isEmpty && move) {
      const [there] = await session.run<{ mirror_id: string }>('SELECT mirror_id FROM mirror_identity');
      if (there?.mirror_id === this.#mirrorId) return true;
    }
    const schema = isEmpty ? secrets.schema : mirror.schema;
    throw new MirrorError(
      'postgres_tables',
      `${mirror.to.name}, schema ${schema}, holds ${isEmpty ? 'the secrets of a mirror' : 'a mirror'} already; nothing was copied.`,
      {
        remedy: `Name another schema with --schema. If nobody needs what is there: DROP SCHEMA IF EXISTS ${mirror.schema}, ${secrets.schema} CASCADE`,
      },
    );
  }

  async #makeSchemas(session: PostgresSession): Promise<void> {
    const { migrations, clock } = this.#copy;
    const { mirror, secrets } = this.#servers;
    for (const [server, folder] of [
      [secrets, 'postgres-secrets'],
      [mirror, 'postgres'],
    ] as const) {
      await enter(session, server);
      await migrateWithin(session, server, readMigrations(join(migrations, folder)), clock);
    }
  }

  async #copyAll(session: PostgresSession): Promise<void> {
    const { mirror, secrets } = this.#source;
    const files = [
      { sqlite: mirror.sqlite, server: this.#servers.mirror, prefix: '' },
      ...(secrets ? [{ sqlite: secrets.sqlite, server: this.#servers.secrets, prefix: 'secrets.' }] : []),
    ];
    const plans = [];
    for (const { sqlite, server, prefix } of files) {
      const { tables, left } = await planCopy(sqlite, session, server.schema);
      plans.push({ sqlite, server, prefix, tables });
      this.#left.push(...left.map((name) => prefix + name));
      this.#all += tables.reduce((sum, { name }) => sum + countIn(sqlite, name), 0);
    }
    for (const { sqlite, server, prefix, tables } of plans) {
      await enter(session, server);
      for (const table of tables) this.#rows[prefix + table.name] = await this.#copyOne(session, sqlite, table);
      await numberOn(session, server, sqlite, tables);
    }
    await this.#beginAnew(session);
    this.#copy.onProgress({ percent: 100 });
  }

  async #copyOne(session: PostgresSession, sqlite: Sqlite, table: CopiedTable): Promise<number> {
    const { name } = table;
    // What they count was counted in the file.
    await session.run(`ALTER TABLE "${name}" DISABLE TRIGGER USER`);
    // The identity of the schema itself.
    await session.run(`DELETE FROM "${name}"`);
    const { stored, opened } = sealed(table, this.#sealing);
    const onRows = (count: number): void => this.#advance(count);
    const rows = await copyTable(rowsOf(sqlite, table), table, { session, stored, opened, onRows });
    await session.run(`ALTER TABLE "${name}" ENABLE TRIGGER USER`);
    // Until the server gets to it by itself, it would believe that nothing is there.
    await session.run(`ANALYZE "${name}"`);
    return rows;
  }

  #advance(rows: number): void {
    this.#copied += rows;
    const percent = Math.min(99, Math.floor((100 * this.#copied) / Math.max(1, this.#all)));
    if (percent === this.#percent) return;
    this.#percent = percent;
    this.#copy.onProgress({ percent });
  }

  /** What tells this history from the one of the file. */
  async #beginAnew(session: PostgresSession): Promise<void> {
    const { mirror, secrets } = this.#servers;
    const epoch = Buffer.from(this.#copy.random.bytes(8)).toString('hex');
    const { connection } = this.#source.mirror;
    await enter(session, mirror);
    await session.run(
      'UPDATE _reading_counter SET read_seq = read_seq + $1, generation = generation + $1, run_id = run_id + $1',
      [jump],
    );
    await session.run('DELETE FROM _feed_epochs');
    await session.run('INSERT INTO _feed_epochs (epoch, after_seq) VALUES ($1, 0)', [epoch]);
    for (const table of ['_notify_targets', '_publications']) await movePlaces(session, table, connection, epoch);
    await enter(session, secrets);
    await movePlaces(session, 'notified', connection, epoch);
    await this.#own(session);
  }

  /** The secrets know their mirror by where it is now. */
  async #own(session: PostgresSession): Promise<void> {
    const [owner] = await session.run<{ mirror_id: string; mirror_path: string }>(
      'SELECT mirror_id, mirror_path FROM owner',
    );
    if (!owner) return;
    const isOurs = owner.mirror_id === this.#mirrorId;
    if (!isOurs && isMirrorAt(owner.mirror_path, owner.mirror_id))
      throw new MirrorError(
        'secrets_taken',
        `${this.#copy.secrets} belongs to another mirror, ${owner.mirror_path}; nothing was copied.`,
      );
    await session.run(
      `UPDATE owner SET mirror_id = $1, mirror_path = $2, daemon_epoch = CASE WHEN mirror_id = $1 THEN daemon_epoch ELSE 0 END`,
      [this.#mirrorId, this.#place],
    );
  }
}

/** From now on names of tables are those of this schema. */
async function enter(session: PostgresSession, { schema }: PostgresServer): Promise<void> {
  await session.run(`SET LOCAL search_path TO "${schema}"`);
}

function uncertain(place: string, cause: unknown): MirrorError {
  const why = cause instanceof MirrorError ? cause.message : String(cause);
  return new MirrorError('postgres_failed', `It is not certain whether ${place} has stored the mirror: ${why}`, {
    cause,
    remedy: 'Run the same command again: it finds out, and copies what is missing.',
  });
}

export function identityIn(sqlite: Sqlite): string {
  const row = fileStatement(sqlite)<None, { mirror_id: string }>`SELECT mirror_id FROM mirror_identity`.get({});
  if (!row) throw new Error('The mirror has no identity.');
  return row.mirror_id;
}

export function countIn(sqlite: Sqlite, table: string): number {
  const all = fileStatement(sqlite)<None, { count: number }>`SELECT count(*) AS count FROM ${sql.table(table)}`;
  return all.get({})?.count ?? 0;
}

/** How rows of a table are sealed, and opened again; as they are where nothing in it is. */
function sealed({ name, columns }: CopiedTable, sealing: Sealing) {
  const found = sealedColumns
    .filter(({ table }) => table === name)
    .map(({ column, owner, kind }) => ({
      kind,
      column: columns.findIndex((of) => of.name === column),
      owner: columns.findIndex((of) => of.name === owner),
    }));
  const each =
    (change: (kind: (typeof found)[number]['kind'], owner: string, value: string) => string) =>
    (row: Cells): Cells => {
      const changed = [...row];
      for (const { kind, column, owner } of found) {
        const value = row[column] ?? null;
        if (value !== null) changed[column] = change(kind, row[owner] ?? '', value);
      }
      return changed;
    };
  return {
    stored: each((kind, owner, value) => sealing.seal(kind, owner, value)),
    opened: each((kind, owner, value) => sealing.open(kind, owner, value)),
  };
}

/** New rows are numbered far beyond those that the file ever numbered, removed ones too. */
async function numberOn(
  session: PostgresSession,
  { schema }: PostgresServer,
  sqlite: Sqlite,
  tables: readonly CopiedTable[],
): Promise<void> {
  const numbered = numbersIn(sqlite);
  for (const { name, columns } of tables)
    for (const column of columns.filter(({ isIdentity }) => isIdentity))
      await session.run(
        `SELECT setval(pg_get_serial_sequence($1, $2), greatest($3::bigint, (SELECT coalesce(max("${column.name}"), 0) FROM "${name}")) + ${jump})`,
        [`"${schema}"."${name}"`, column.name, numbered.get(name) ?? 0],
      );
}

/** The last number that SQLite gave out in each table of which it remembers it. */
export function numbersIn(sqlite: Sqlite): ReadonlyMap<string, number> {
  const isThere = fileStatement(sqlite)<None>`SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'`;
  if (isThere.get({}) === undefined) return new Map();
  const rows = fileStatement(sqlite)<None, { name: string; seq: number }>`SELECT name, seq FROM sqlite_sequence`;
  return new Map(rows.all({}).map(({ name, seq }) => [name, seq]));
}

/** A place in the feed of the file is the same one in the new epoch; one that was invalid there stays so. */
async function movePlaces(session: PostgresSession, table: string, db: Connection, epoch: string): Promise<void> {
  const places = await session.run<{ place: string }>(`SELECT DISTINCT place FROM "${table}" WHERE place IS NOT NULL`);
  for (const { place } of places) {
    const parts = cursorParts(place);
    if (!parts || typeof (await resolveCursor(db, place)) !== 'number') continue;
    const moved = `${epoch}${place.slice(parts.epoch.length)}`;
    await session.run(`UPDATE "${table}" SET place = $1 WHERE place = $2`, [moved, place]);
  }
}
