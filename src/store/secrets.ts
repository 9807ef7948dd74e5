/** The file of secrets, mode 0600: what must never stand in the mirror. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { parseInstant, sleep, timestamp, type Clock, type Dice } from '../clock.ts';
import { MirrorError } from '../errors.ts';
import { Secret } from '../log.ts';
import { Database, type DatabaseOptions } from './database.ts';
import { readMigrations } from './migrate.ts';
import { ownerClaim, type Owner } from './owner.ts';
import { secretSql, statement } from './statement.ts';
import { verifierStore, type Verifiers } from './verifiers.ts';

/** An OAuth token pair; `expiresAt` is when the access token ends, milliseconds since 1970. */
export interface StoredPair {
  readonly access: Secret;
  readonly refresh: Secret;
  readonly expiresAt: number;
}

export interface Vault {
  load(): Promise<StoredPair | undefined>;
  /** Runs `work` while no other process does, with the newest pair; `save` resolves once the new pair is on disk. */
  exclusively<T>(
    work: (pair: StoredPair | undefined, save: (pair: StoredPair) => Promise<void>) => Promise<T>,
  ): Promise<T>;
}

export interface Secrets {
  /** The token pairs of one OAuth client. */
  vault(client: string): Vault;
  readonly verifiers: Verifiers;
  readonly path: string;
  /** Sizes of the file and its journal, in bytes; undefined where the file is no longer the one that was opened. */
  files(): ReturnType<Database['files']>;
  /** Makes a mirror the owner of the file. @throws MirrorError `secrets_taken` where another one is, and still there. */
  claim(owner: Owner): Promise<void>;
  close(): Promise<void>;
}

export interface SecretsFile {
  readonly path: string;
  readonly migrations: string;
  readonly clock: Clock;
  readonly dice: Dice;
  /** Hears that the file is not to be trusted any more, as in `DatabaseOptions`. */
  readonly onDistrust?: DatabaseOptions['onDistrust'];
}

/** How long a process may hold the lease of a token pair, in milliseconds: longer than one refresh can take. */
const leaseTime = 180_000;

/** Opens the file. @throws MirrorError `database_unusable` where others may read it, and as `Database.open`. */
export async function openSecrets(file: SecretsFile): Promise<Secrets> {
  const { clock, dice } = file;
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
  const claim = ownerClaim(database.sqlite, file.path);
  return {
    claim: (owner) => database.write(() => claim(owner)),
    vault: (client) => tokenVault(database, client, clock, dice),
    verifiers: verifierStore(database, clock, dice),
    path: database.path,
    files: () => database.files(),
    close: () => database.close(),
  };
}

interface TokenRow {
  access_token: string | null;
  refresh_token: string | null;
  expires_at: string | null;
}

function tokenVault(database: Database, client: string, clock: Clock, dice: Dice): Vault {
  const { sqlite } = database;
  const owner = Buffer.from(dice.bytes(16)).toString('hex');
  const find = statement<{ client: string }, TokenRow>(sqlite, (at) =>
    secretSql
      .selectFrom('oauth_tokens')
      .select(['access_token', 'refresh_token', 'expires_at'])
      .where('client', '=', at.client),
  );
  const introduce = statement<{ client: string }>(sqlite, (at) =>
    secretSql
      .insertInto('oauth_tokens')
      .values({ client: at.client })
      .onConflict((conflict) => conflict.doNothing()),
  );
  // A lease that ends later than one taken now is from before the machine was started anew.
  const lease = statement<{ client: string; owner: string; now: number; until: number }>(sqlite, (at) =>
    secretSql
      .updateTable('oauth_tokens')
      .set({ lease_owner: at.owner, lease_until_ms: at.until })
      .where('client', '=', at.client)
      .where((row) =>
        row.or([
          row('lease_owner', 'is', null),
          row('lease_until_ms', '<', at.now),
          row('lease_until_ms', '>', at.until),
        ]),
      ),
  );
  const release = statement<{ client: string; owner: string }>(sqlite, (at) =>
    secretSql
      .updateTable('oauth_tokens')
      .set({ lease_owner: null, lease_until_ms: null })
      .where('client', '=', at.client)
      .where('lease_owner', '=', at.owner),
  );
  const store = statement<{ client: string } & TokenRow>(sqlite, (at) =>
    secretSql
      .updateTable('oauth_tokens')
      .set({ access_token: at.access_token, refresh_token: at.refresh_token, expires_at: at.expires_at })
      .where('client', '=', at.client),
  );
  const load = (): Promise<StoredPair | undefined> => database.read(() => pairOf(find.get({ client })));
  const take = (): Promise<boolean> =>
    database.write(() => {
      introduce.run({ client });
      const now = Math.floor(clock.monotonic());
      return lease.run({ client, owner, now, until: now + leaseTime }) > 0;
    });
  return {
    load,
    async exclusively(work) {
      while (!(await take())) await sleep(clock, 100);
      try {
        return await work(await load(), async ({ access, refresh, expiresAt }) => {
          await database.write(() =>
            store.run({
              client,
              access_token: access.reveal(),
              refresh_token: refresh.reveal(),
              expires_at: timestamp(expiresAt),
            }),
          );
        });
      } finally {
        await database.write(() => release.run({ client, owner }));
      }
    },
  };
}

function pairOf(row: TokenRow | undefined): StoredPair | undefined {
  if (row?.access_token == null || row.refresh_token === null) return undefined;
  return {
    access: new Secret(row.access_token),
    refresh: new Secret(row.refresh_token),
    expiresAt: parseInstant(row.expires_at ?? '') ?? 0,
  };
}
