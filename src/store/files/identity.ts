/**
 * Whose a file is: the service that a mirror belongs to, the daemon that works with it, and whether the file at a path is still the one
 * that was opened.
 *
 * A mirror belongs to the service that filled it first, known by its address (a sandbox by its own name). Another is refused until `doctor
 * --accept-service` has compared a page of vendors by id and creation time and a person has agreed; `--yes` agrees only if more than half
 * are the same and almost none is a different vendor.
 *
 * A daemon takes the next number in `mirror_identity`, records it in the secrets file, and checks it in each transaction. If its lock file
 * was removed and another daemon started, it commits nothing more and exits with 75. Each minute, and before it checks its callbacks, it
 * opens both files again; if one was overwritten in place (`cp` keeps name and inode), it exits with 74.
 *
 * The mirror also remembers where its daemon listened: who upgrades is told that the default became this machine alone.
 */
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Selectable } from 'kysely';
import { timestamp, type Clock } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import type { Claim } from '../sqlite/database.ts';
import { connectReader, type Sqlite } from '../sqlite/driver.ts';
import type { DaemonFileTable, IdentityTable, SecretTables } from '../sql/schema.ts';
import { catalogued, isBusy } from '../sqlite/sqlite-errors.ts';
import { mirrorSql, secretSql, statement, runQuery, Operations, type None, type Connection } from '../sql/statement.ts';
import { fileStatement, runFileQuery } from '../sqlite/connection.ts';
import { isDaemonAt } from './locks.ts';

/** The identity of a mirror, and the service it belongs to. */
export class IdentityRow extends Operations {
  readonly #clock: Clock;
  readonly #find = statement<None, Pick<IdentityTable, 'mirror_id' | 'service'>>(this.db, () =>
    mirrorSql.selectFrom('mirror_identity').select(['mirror_id', 'service']),
  );
  readonly #change = statement<{ service: string; now: string }>(this.db, (at) =>
    mirrorSql.updateTable('mirror_identity').set({ service: at('service'), service_since: at('now') }),
  );

  constructor(db: Connection, clock: Clock) {
    super(db);
    this.#clock = clock;
  }

  async read(): Promise<Identity> {
    const row = await this.#find.get({});
    if (!row) throw new Error('The mirror has no identity.');
    return { mirrorId: row.mirror_id, service: row.service };
  }

  /** Binds the mirror to a service, unless it is bound. @returns whether it was not bound before. */
  async adopt(service: string): Promise<boolean> {
    const isNew = (await this.read()).service === null;
    if (isNew) this.accept(service);
    return isNew;
  }

  accept(service: string): void {
    this.#change.send({ service, now: timestamp(this.#clock.now()) });
  }
}

/** The service that the mirror belongs to; null until one has answered. */
export async function serviceOf(db: Connection): Promise<string | null> {
  const [row] = await runQuery(db, mirrorSql.selectFrom('mirror_identity').select('service'));
  return row?.service ?? null;
}

/** The address of a service, in one spelling. */
export function serviceNameOf(baseUrl: string): string {
  const { origin, pathname } = new URL(baseUrl);
  return origin + pathname.replace(/\/+$/, '');
}

/** A sandbox is known by the name of its world, whatever its port. */
export function sandboxName(id: string): string {
  return `sandbox ${id}`;
}

/** Why a mirror is not of the service that the settings name; undefined where it is, or belongs to none yet. */
export function otherService(
  known: string | null,
  { baseUrl }: { readonly baseUrl: string | null },
  path: string,
): MirrorError | undefined {
  if (known === null) return undefined;
  // Which world a built-in sandbox has is known only while it runs.
  if (baseUrl === null) return known.startsWith(sandboxName('')) ? undefined : mismatch(path, known, 'a sandbox');
  const name = serviceNameOf(baseUrl);
  return known === name ? undefined : mismatch(path, known, name);
}

/** @throws MirrorError `other_service`. */
export function refuseOtherService(known: string | null, name: string, { path }: { readonly path: string }): void {
  if (known !== null && known !== name) throw mismatch(path, known, name);
}

function mismatch(path: string, known: string, named: string): MirrorError {
  return new MirrorError('other_service', `${path} mirrors ${known}, but the settings name ${named}.`);
}

/** Whether the mirror with this identity is at `path`; a locked file counts as yes. */
export function isMirrorAt(path: string, mirrorId: string): boolean {
  let sqlite: Sqlite | undefined;
  try {
    sqlite = connectReader(path);
    const find = fileStatement(sqlite)<None, Pick<IdentityTable, 'mirror_id'>>`SELECT mirror_id FROM mirror_identity`;
    return find.get({})?.mirror_id === mirrorId;
  } catch (error) {
    return isBusy(error);
  } finally {
    sqlite?.close();
  }
}

/** The files of an installation that begin anew, in words; undefined where both are there. An empty file is none. */
export function newFiles({ database, secrets }: FilePaths): string | undefined {
  const found = [
    ...(sizeOf(database) === 0 ? [`a new mirror, ${resolve(database)}`] : []),
    ...(sizeOf(secrets) === 0 ? [`new secrets, ${resolve(secrets)}`] : []),
  ];
  return found.length === 0 ? undefined : found.join(', and ');
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** The identity of a mirror, and the service it belongs to. */
export interface Identity {
  /** A random id from when the file was created. */
  readonly mirrorId: string;
  /** The service that the mirror belongs to; null until one has answered. */
  readonly service: string | null;
}

/**
 * The epoch of the daemon in both of its files. The lock beside the mirror excludes a second daemon, but may be removed; and a file can be
 * overwritten without a change of name or inode. So a daemon takes the next epoch when it starts, and checks it in each transaction.
 */

/** A mirror, and the number of daemons that have used it. */
export type DaemonEpoch = Selectable<Pick<IdentityTable, 'mirror_id' | 'daemon_epoch'>>;

/** Takes the next epoch. Runs inside a transaction of the mirror. */
export function nextEpoch(sqlite: Sqlite): DaemonEpoch {
  fileStatement(sqlite)`UPDATE mirror_identity SET daemon_epoch = daemon_epoch + 1`.run({});
  const epoch = inMirror(sqlite).get({});
  if (!epoch) throw new Error('The mirror has no identity.');
  return epoch;
}

export interface ListenerPlace {
  readonly host: string;
  /** Whether only this machine reaches it, although nobody asked for that. */
  readonly isClosedByDefault: boolean;
}

/**
 * Records where the daemon listens. Runs inside a transaction of the mirror.
 * @returns whether the daemon before listened on all interfaces, and this one does not only because that is the default.
 */
export async function rememberListener(
  db: Connection,
  { host, isClosedByDefault }: ListenerPlace,
  now: string,
): Promise<boolean> {
  const before = await listenerMovedAt(db);
  statement(db)<{ host: string; closed: number; now: string }>`
    UPDATE mirror_identity SET
      listener_moved_at = CASE
        WHEN NOT ${'closed'} THEN NULL
        WHEN listener_host IN ('0.0.0.0', '::') THEN ${'now'}
        ELSE listener_moved_at END,
      listener_host = ${'host'}`.send({ host, closed: Number(isClosedByDefault), now });
  return ((await listenerMovedAt(db)) ?? before) !== before;
}

/** When a daemon first listened on this machine alone, by default, after one that listened on all interfaces; null if that did not happen. */
export async function listenerMovedAt(db: Connection): Promise<string | null> {
  const [row] = await runQuery(db, mirrorSql.selectFrom('mirror_identity').select('listener_moved_at'));
  return row?.listener_moved_at ?? null;
}

/**
 * Records the epoch in the secrets. Runs inside a transaction of the secrets, after the mirror has claimed them.
 * @param left what the previous daemon left in the mirror
 * @returns whether the mirror is an older copy: the secrets had met this epoch, or a later one; or the previous daemon stopped normally, and
 * the mirror still has its record.
 */
export function enterEpoch(sqlite: Sqlite, epoch: DaemonEpoch, left: LeftRecord): boolean {
  const last = inSecrets(sqlite).get({})?.daemon_epoch ?? 0;
  putEpoch(sqlite, epoch);
  return Math.abs(last) >= epoch.daemon_epoch || (last < 0 && left.isThere);
}

/** Records in the secrets that the daemon of this epoch stopped normally, by the epoch's sign. @returns the epoch as it stands there then. */
export function endEpoch(sqlite: Sqlite, { mirror_id, daemon_epoch }: DaemonEpoch): DaemonEpoch {
  const ended = { mirror_id, daemon_epoch: -daemon_epoch };
  putEpoch(sqlite, ended);
  return ended;
}

function putEpoch(sqlite: Sqlite, { daemon_epoch }: DaemonEpoch): void {
  fileStatement<Pick<SecretTables['owner'], 'daemon_epoch'>>(sqlite, (at) =>
    secretSql.updateTable('owner').set({ daemon_epoch: at('daemon_epoch') }),
  ).run({ daemon_epoch });
}

export function mirrorClaim(sqlite: Sqlite, own: DaemonEpoch): Claim {
  return claimOf(sqlite, own, inMirror);
}

export function secretsClaim(sqlite: Sqlite, own: DaemonEpoch): Claim {
  return claimOf(sqlite, own, inSecrets);
}

type EpochQuery = (sqlite: Sqlite) => { get(values: object): DaemonEpoch | undefined };

const inMirror: EpochQuery = (sqlite) =>
  fileStatement<object, DaemonEpoch>(sqlite, () =>
    mirrorSql.selectFrom('mirror_identity').select(['mirror_id', 'daemon_epoch']),
  );

const inSecrets: EpochQuery = (sqlite) =>
  fileStatement<object, DaemonEpoch>(sqlite, () => secretSql.selectFrom('owner').select(['mirror_id', 'daemon_epoch']));

function claimOf(sqlite: Sqlite, own: DaemonEpoch, query: EpochQuery): Claim {
  const path = sqlite.name;
  const find = query(sqlite);
  return { check: () => difference(path, own, find.get({})), checkAtPath: () => foundAt(path, own, query) };
}

/** Through a new connection, because an existing one would answer from its cache. A locked file counts as ours. */
function foundAt(path: string, own: DaemonEpoch, query: EpochQuery): MirrorError | undefined {
  let sqlite: Sqlite | undefined;
  try {
    sqlite = connectReader(path);
    return difference(path, own, query(sqlite).get({}));
  } catch (error) {
    return isBusy(error) ? undefined : difference(path, own, undefined, error);
  } finally {
    sqlite?.close();
  }
}

function difference(path: string, own: DaemonEpoch, there: DaemonEpoch | undefined, cause?: unknown) {
  if (there?.mirror_id === own.mirror_id) {
    if (there.daemon_epoch === own.daemon_epoch) return undefined;
    if (there.daemon_epoch > own.daemon_epoch)
      return new MirrorError('already_running', `Another daemon has taken over ${path}; this one writes nothing more.`);
  }
  return new MirrorError('database_unusable', `${path} was overwritten with another file while it was in use.`, {
    cause,
  });
}

/**
 * Checks that the files at their paths are those that the running daemon has open. It would continue to use a deleted or replaced file
 * while other processes use the new one.
 */

export interface FilePaths {
  readonly database: string;
  readonly secrets: string;
}

/** The record of the previous daemon, which one that stops normally removes. */
export interface LeftRecord {
  /** It was killed, or this is a copy that was made while it ran. */
  readonly isThere: boolean;
  /** It had another file open: this one is a copy. */
  readonly isOfAnother: boolean;
}

/**
 * Records which files the daemon has open. Runs inside a transaction of the mirror.
 * @returns what it found there.
 */
export function rememberDaemonFiles(sqlite: Sqlite, paths: FilePaths): LeftRecord {
  const before = runFileQuery(sqlite, mirrorSql.selectFrom('_daemon_files').select(['file', 'inode']));
  const inode = inodeOf(paths.database);
  const put = fileStatement<DaemonFileTable>(sqlite, (at) =>
    mirrorSql
      .insertInto('_daemon_files')
      .values({ file: at('file'), inode: at('inode') })
      .onConflict((conflict) => conflict.column('file').doUpdateSet({ inode: at('inode') })),
  );
  put.run({ file: 'mirror', inode: inode ?? '' });
  put.run({ file: 'secrets', inode: inodeOf(paths.secrets) ?? '' });
  return {
    isThere: before.length > 0,
    isOfAnother: before.some((row) => row.file === 'mirror' && row.inode !== inode),
  };
}

/** Records that the daemon stopped normally. Runs inside a transaction of the mirror. */
export function forgetDaemonFiles(sqlite: Sqlite): void {
  fileStatement(sqlite, () => mirrorSql.deleteFrom('_daemon_files')).run({});
}

/**
 * Fails where a running daemon has other files open than those at these paths; creates no file.
 * @throws MirrorError `database_unusable` that names the file; as opening the mirror does.
 */
export function refuseOtherFiles(paths: FilePaths): void {
  const other = isDaemonAt(paths.database) ? otherFile(paths) : undefined;
  if (other !== undefined)
    throw new MirrorError(
      'database_unusable',
      `${other} is not the file that the running daemon has open: it was moved, deleted or replaced. Put it back, or restart the daemon.`,
    );
}

function otherFile(paths: FilePaths): string | undefined {
  if (!existsSync(paths.database)) return paths.database;
  const opened = new Map(rowsOf(paths.database).map(({ file, inode }) => [file, inode]));
  const differs = (file: DaemonFileTable['file'], path: string): boolean =>
    opened.has(file) && opened.get(file) !== inodeOf(path);
  if (differs('mirror', paths.database)) return paths.database;
  return differs('secrets', paths.secrets) ? paths.secrets : undefined;
}

function rowsOf(path: string): DaemonFileTable[] {
  let sqlite: Sqlite | undefined;
  try {
    sqlite = connectReader(path);
    const known = fileStatement(sqlite)`SELECT 1 FROM sqlite_schema WHERE name = '_daemon_files'`.get({});
    return known ? runFileQuery(sqlite, mirrorSql.selectFrom('_daemon_files').select(['file', 'inode'])) : [];
  } catch (error) {
    throw catalogued(error, path);
  } finally {
    sqlite?.close();
  }
}

function inodeOf(path: string): string | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino.toString();
}
