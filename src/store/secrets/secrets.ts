/**
 * The secrets: data that must never be in the mirror. In a file, it has mode 0600; in PostgreSQL, they are sealed.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { sleep, type Clock, type Random } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import type { PostgresStore } from '../../settings/parse.ts';
import type { DaemonEpoch, LeftRecord } from '../files/identity.ts';
import type { Database } from '../sql/database.ts';
import { SqliteDatabase, type DatabaseOptions } from '../sqlite/database.ts';
import { readMigrations } from '../sqlite/migrate.ts';
import { statement, Operations } from '../sql/statement.ts';
import { FileSecrets } from './file-secrets.ts';
import { sealAnew } from './sealed-columns.ts';
import { KeySealing, unsealed, type Sealing } from './sealing.ts';
import type { SecretsPlace } from './secrets-place.ts';
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
  /** As in `DatabaseOptions`. */
  readonly onLocked?: DatabaseOptions['onLocked'];
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
  return new Secrets(new FileSecrets(database, file.path, file.clock), file);
}

/** How to open secrets in PostgreSQL. */
export interface PostgresSecretsOptions extends Pick<SecretsFile, 'migrations' | 'clock' | 'random'> {
  readonly store: PostgresStore;
  readonly sealing: Sealing;
}

/** How secrets are sealed there. @throws MirrorError `secrets_key_unusable`. */
export function secretsSealing({ secretsKeyFile }: PostgresStore, random: Random): Sealing {
  return new KeySealing(secretsKeyFile, random);
}

/** Opens secrets in PostgreSQL. @throws MirrorError as `PostgresDatabase.open`. */
export async function openPostgresSecrets(options: PostgresSecretsOptions): Promise<Secrets> {
  const { PostgresDatabase } = await import('../postgres/database.ts');
  const { PostgresSecrets } = await import('./postgres-secrets.ts');
  const { secretsServer } = await import('../postgres/server.ts');
  const server = secretsServer(options.store);
  const migrations = readMigrations(join(options.migrations, 'postgres-secrets'));
  const database = await PostgresDatabase.open({ ...options, server, migrations, givesNumbers: false });
  return new Secrets(new PostgresSecrets(database), options);
}

export class Secrets {
  readonly verifiers: Verifiers;
  readonly notified: NotifiedPositions;
  readonly path: string;
  /** What depends on where they are kept. */
  readonly place: Omit<SecretsPlace, 'database' | 'leases' | 'beginDaemon'>;
  readonly #place: SecretsPlace;
  readonly #file: Pick<SecretsFile, 'clock' | 'random'>;
  readonly #sealing: Sealing;
  readonly #closing = new AbortController();
  readonly #renewals = new Set<Promise<unknown>>();

  constructor(place: SecretsPlace, file: Pick<SecretsFile, 'clock' | 'random' | 'sealing'>) {
    const { database } = place;
    this.place = place;
    this.#place = place;
    this.#file = file;
    this.#sealing = file.sealing ?? unsealed;
    this.verifiers = new Verifiers(database, file.clock, file.random, this.#sealing);
    this.notified = new NotifiedPositions(database);
    this.path = database.path;
  }

  /** The token pair of one OAuth client, for this process. */
  tokenStore(client: string, user: TokenStoreProcess): TokenStore {
    const { clock, random } = this.#file;
    const { database, leases } = this.#place;
    const shared = { sealing: this.#sealing, leases, renewals: this.#renewals, closing: this.#closing.signal };
    return new TokenStore(database, { client, user, clock, random, ...shared });
  }

  /**
   * Makes the daemon of that epoch the user of the secrets; in a file, refuses to write once another daemon has taken over. What was sealed
   * with a key that is being replaced is sealed anew.
   * @returns as `SecretsPlace.beginDaemon`
   * @throws MirrorError `secrets_key_unknown`, `secrets_altered` where values are sealed.
   */
  beginDaemon(epoch: DaemonEpoch, left: LeftRecord): Promise<boolean> {
    return this.#place.beginDaemon(epoch, left, () => sealAnew(this.#place.database.connection, this.#sealing));
  }

  /**
   * Closes them. Requests that wait for a token are rejected; a renewal under way is saved first, because the old refresh token no
   * longer works.
   */
  async close(): Promise<void> {
    this.#closing.abort(new MirrorError('interrupted', 'Interrupted while the access token was renewed.'));
    const enough = new AbortController();
    const late = sleep(this.#file.clock, lockWaitAtClose, enough.signal).catch(() => undefined);
    if (this.#renewals.size > 0) await Promise.race([Promise.allSettled(this.#renewals), late]);
    enough.abort();
    await this.#place.database.close();
  }
}

/**
 * The positions up to which webhooks may have been sent, saved outside the mirror, so that a mirror that was restored from a copy is
 * recognised.
 */
export class NotifiedPositions extends Operations {
  readonly #database: Database;
  readonly #find = statement(this.db)<{ target: string }, { place: string }>`
    SELECT place FROM notified WHERE target = ${'target'}`;
  readonly #save = statement(this.db)<{ target: string; place: string }>`
    INSERT INTO notified (target, place)
    VALUES (${'target'}, ${'place'}) ON CONFLICT (target) DO UPDATE SET place = excluded.place`;

  constructor(database: Database) {
    super(database.connection);
    this.#database = database;
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
