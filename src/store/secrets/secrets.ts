/**
 * The secrets file, mode 0600: data that must never be in the mirror.
 *
 * The secrets belong to the mirror whose identity they hold, and follow it when it is moved or rebuilt. A different mirror is refused only
 * while their own is still in its place.
 */
import { sql } from 'kysely';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { sleep, type Clock, type Random } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import {
  endEpoch,
  enterEpoch,
  isMirrorAt,
  secretsClaim,
  type DaemonEpoch,
  type LeftRecord,
} from '../files/identity.ts';
import { shortLockWait } from '../sql/database.ts';
import { SqliteDatabase, movedError, type DatabaseOptions } from '../sqlite/database.ts';
import type { Connection } from '../sql/statement.ts';
import { readMigrations } from '../sqlite/migrate.ts';
import type { SecretTables } from '../sql/schema.ts';
import { columns, secretSql, statement, type Statement } from '../sql/statement.ts';
import { sealAnew } from './sealed-columns.ts';
import { unsealed, type Sealing } from './sealing.ts';
import { TokenStore, type TokenStoreProcess } from './token-store.ts';
import { Verifiers } from './verifiers.ts';

export interface SecretsFile {
  readonly path: string;
  readonly migrations: string;
  readonly clock: Clock;
  readonly random: Random;
  /** How values are stored; by default as they are. */
  readonly sealing?: Sealing;
  /** As in `DatabaseOptions`. */
  readonly mayMigrate?: DatabaseOptions['mayMigrate'];
  /** As in `DatabaseOptions`. */
  readonly onDistrust?: DatabaseOptions['onDistrust'];
}

/** How long closing waits for a renewal under way, in milliseconds. */
const lockWaitAtClose = 10_000;

/** Opens the file. @throws MirrorError `database_unusable` where other users may read it, and as `Database.open`. */
export async function openSecrets(file: SecretsFile): Promise<Secrets> {
  const database = await SqliteDatabase.open({
    ...file,
    mode: 0o600,
    migrations: readMigrations(join(file.migrations, 'secrets')),
  });
  if ((statSync(database.path).mode & 0o077) !== 0) {
    await database.close();
    throw new MirrorError(
      'database_unusable',
      `${file.path} holds secrets and others may read it; run: chmod 600 ${file.path}`,
    );
  }
  return new Secrets(database, file);
}

export class Secrets {
  readonly verifiers: Verifiers;
  readonly notified: NotifiedPositions;
  readonly path: string;
  readonly #database: SqliteDatabase;
  readonly #file: SecretsFile;
  readonly #sealing: Sealing;
  readonly #claim: (claimant: Owner) => Promise<void>;
  readonly #closing = new AbortController();
  readonly #renewals = new Set<Promise<unknown>>();

  constructor(database: SqliteDatabase, file: SecretsFile) {
    this.#database = database;
    this.#file = file;
    this.#sealing = file.sealing ?? unsealed;
    this.#claim = ownerClaim(database.connection, file.path);
    this.verifiers = new Verifiers(database, file.clock, file.random, this.#sealing);
    this.notified = new NotifiedPositions(database);
    this.path = database.path;
  }

  /** The token pair of one OAuth client, for this process. */
  tokenStore(client: string, user: TokenStoreProcess): TokenStore {
    const { clock, random } = this.#file;
    const sealing = this.#sealing;
    const closing = this.#closing.signal;
    return new TokenStore(this.#database, { client, user, clock, random, sealing, renewals: this.#renewals, closing });
  }

  /** Why the secrets cannot be read now; undefined while they can. */
  trouble(): MirrorError | undefined {
    return this.#database.fileSizes() ? undefined : movedError(this.path);
  }

  /** Makes a mirror the owner of the file. @throws MirrorError `secrets_taken` where another one is, and still exists. */
  claim(owner: Owner): Promise<void> {
    return this.#database.write(() => this.#claim(owner));
  }

  /**
   * Makes the daemon of that epoch the user of the file; refuses to write once another daemon has taken over. What was sealed with a key
   * that is being replaced is sealed anew.
   * @returns as `enterEpoch`
   * @throws MirrorError `secrets_key_unknown`, `secrets_altered` where values are sealed.
   */
  async beginDaemon(epoch: DaemonEpoch, left: LeftRecord): Promise<boolean> {
    const { sqlite } = this.#database;
    const isOlder = await this.#database.write(async () => {
      await sealAnew(this.#database.connection, this.#sealing);
      return enterEpoch(sqlite, epoch, left);
    });
    await this.#database.requireClaim(secretsClaim(sqlite, epoch));
    return isOlder;
  }

  /** Records that the daemon of that epoch stopped normally, after the mirror has recorded it. */
  async endDaemon(epoch: DaemonEpoch): Promise<void> {
    const { sqlite } = this.#database;
    const ended = await this.#database.write(() => endEpoch(sqlite, epoch), shortLockWait);
    await this.#database.requireClaim(secretsClaim(sqlite, ended));
  }

  /** As `Database.copyJournal`. */
  copyJournal(): Promise<void> {
    return this.#database.copyJournal();
  }

  /** As `Database.assertOurs`. */
  assertOurs(): void {
    this.#database.assertOurs();
  }

  /**
   * Closes the file. Requests that wait for a token are rejected; a renewal under way is saved first, because the old refresh token no
   * longer works.
   */
  async close(): Promise<void> {
    this.#closing.abort(new MirrorError('interrupted', 'Interrupted while the access token was renewed.'));
    const enough = new AbortController();
    const late = sleep(this.#file.clock, lockWaitAtClose, enough.signal).catch(() => undefined);
    if (this.#renewals.size > 0) await Promise.race([Promise.allSettled(this.#renewals), late]);
    enough.abort();
    await this.#database.close();
  }
}

/** The mirror that owns a secrets file. Two mirrors with the same secrets would treat each other's callbacks as their own. */

/** A mirror: its identity and its path. */
interface Owner {
  readonly mirrorId: string;
  readonly path: string;
  /** The path of the mirror that this one stands in for, until it is removed soon: then it only must not meet a third one. */
  readonly standsInFor?: string | undefined;
}

/**
 * Returns a function that makes a mirror the owner, if there is none, or if the current one is no longer at its path (moved here, rebuilt
 * or removed). The function runs inside a transaction.
 * @throws MirrorError `secrets_taken` while another mirror is the owner.
 */
function ownerClaim(db: Connection, secretsPath: string): (claimant: Owner) => Promise<void> {
  const find = statement<object, SecretTables['owner']>(db, () =>
    secretSql.selectFrom('owner').select(['id', 'mirror_id', 'mirror_path', 'daemon_epoch']),
  );
  const write = statement<SecretTables['owner']>(db, (at) => {
    const values = columns(at, ['mirror_id', 'mirror_path', 'daemon_epoch']);
    return secretSql
      .insertInto('owner')
      .values({ id: at('id'), ...values })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(values));
  });
  return async ({ mirrorId, path, standsInFor }) => {
    const owner = await find.get({});
    if (owner?.mirror_id === mirrorId && owner.mirror_path === path) return;
    if (standsInFor !== undefined && owner?.mirror_path === standsInFor) return;
    if (owner && owner.mirror_id !== mirrorId && isMirrorAt(owner.mirror_path, owner.mirror_id))
      throw new MirrorError('secrets_taken', `${secretsPath} belongs to another mirror, ${owner.mirror_path}.`);
    if (standsInFor === undefined) write.send({ id: 1, mirror_id: mirrorId, mirror_path: path, daemon_epoch: 0 });
  };
}

/**
 * The positions up to which webhooks may have been sent, saved outside the mirror, so that a mirror that was restored from a copy is
 * recognised.
 */
export class NotifiedPositions {
  readonly #database: SqliteDatabase;
  readonly #find: Statement<{ target: string }, { place: string }>;
  readonly #save: Statement<{ target: string; place: string }>;

  constructor(database: SqliteDatabase) {
    const { connection: db } = database;
    this.#database = database;
    this.#find = statement(db, (at) => sql`SELECT place FROM notified WHERE target = ${at('target')}`);
    this.#save = statement(
      db,
      (at) => sql`
      INSERT INTO notified (target, place)
      VALUES (${at('target')}, ${at('place')}) ON CONFLICT (target) DO UPDATE SET place = excluded.place`,
    );
  }

  /** The saved cursor of a target; undefined where there is none. */
  find(target: string): Promise<string | undefined> {
    return this.#database.read(async () => (await this.#find.get({ target }))?.place);
  }

  /** Saves a cursor; on disk when this resolves. */
  save(target: string, position: string): Promise<void> {
    return this.#database.write(() => this.#save.send({ target, place: position }));
  }
}
