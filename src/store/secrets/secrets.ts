/** The secrets file, mode 0600: data that must never be in the mirror. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { sleep, type Clock, type Random } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import { Database, movedError, type DatabaseOptions } from '../sqlite/database.ts';
import { readMigrations } from '../sqlite/migrate.ts';
import { enterEpoch, secretsClaim, type DaemonEpoch } from '../files/daemon-claim.ts';
import { NotifiedPositions } from './notified-positions.ts';
import { ownerClaim, type Owner } from './owner.ts';
import { SqliteTokens, type TokenStorage, type TokenStoreProcess } from './token-store.ts';
import { SqliteVerifiers, type Verifiers } from './verifiers.ts';

export interface Secrets {
  /** The token pair of one OAuth client, for this process. */
  tokenStore(client: string, user: TokenStoreProcess): TokenStorage;
  readonly verifiers: Verifiers;
  readonly notified: NotifiedPositions;
  readonly path: string;
  /** Why the secrets cannot be read now; undefined while they can. */
  trouble(): MirrorError | undefined;
  /** Makes a mirror the owner of the file. @throws MirrorError `secrets_taken` where another one is, and still exists. */
  claim(owner: Owner): Promise<void>;
  /** Makes the daemon of that epoch the user of the file; refuses to write once another daemon has taken over. */
  beginDaemon(epoch: DaemonEpoch): Promise<void>;
  /** As `Database.assertOurs`. */
  assertOurs(): void;
  /**
   * Closes the file. Requests that wait for a token are rejected; a renewal under way is saved first, because the old refresh token no
   * longer works.
   */
  close(): Promise<void>;
}

export interface SecretsFile {
  readonly path: string;
  readonly migrations: string;
  readonly clock: Clock;
  readonly random: Random;
  /** As in `DatabaseOptions`. */
  readonly onDistrust?: DatabaseOptions['onDistrust'];
}

/** How long closing waits for a renewal under way, in milliseconds. */
const lockWaitAtClose = 10_000;

/** Opens the file. @throws MirrorError `database_unusable` where other users may read it, and as `Database.open`. */
export async function openSecrets(file: SecretsFile): Promise<Secrets> {
  const database = await Database.open({
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
  return new SqliteSecrets(database, file);
}

class SqliteSecrets implements Secrets {
  readonly verifiers: Verifiers;
  readonly notified: NotifiedPositions;
  readonly path: string;
  readonly #database: Database;
  readonly #file: SecretsFile;
  readonly #claim: (claimant: Owner) => void;
  readonly #closing = new AbortController();
  readonly #renewals = new Set<Promise<unknown>>();

  constructor(database: Database, file: SecretsFile) {
    this.#database = database;
    this.#file = file;
    this.#claim = ownerClaim(database.sqlite, file.path);
    this.verifiers = new SqliteVerifiers(database, file.clock, file.random);
    this.notified = new NotifiedPositions(database);
    this.path = database.path;
  }

  tokenStore(client: string, user: TokenStoreProcess): TokenStorage {
    const { clock, random } = this.#file;
    const { signal } = this.#closing;
    return new SqliteTokens(this.#database, { client, user, clock, random, renewals: this.#renewals, closing: signal });
  }

  trouble(): MirrorError | undefined {
    return this.#database.fileSizes() ? undefined : movedError(this.path);
  }

  claim(owner: Owner): Promise<void> {
    return this.#database.write(() => this.#claim(owner));
  }

  async beginDaemon(epoch: DaemonEpoch): Promise<void> {
    const { sqlite } = this.#database;
    await this.#database.write(() => enterEpoch(sqlite, epoch));
    await this.#database.requireClaim(secretsClaim(sqlite, epoch));
  }

  assertOurs(): void {
    this.#database.assertOurs();
  }

  async close(): Promise<void> {
    this.#closing.abort(new MirrorError('interrupted', 'Interrupted while the access token was renewed.'));
    const enough = new AbortController();
    const late = sleep(this.#file.clock, lockWaitAtClose, enough.signal).catch(() => undefined);
    if (this.#renewals.size > 0) await Promise.race([Promise.allSettled(this.#renewals), late]);
    enough.abort();
    await this.#database.close();
  }
}
