/** OAuth token pairs, replaced by one process at a time: a refresh token works once. */
import { parseInstant, sleep, timestamp, type Clock, type Random } from '../../domain/clock.ts';
import { Secret } from '../../domain/log.ts';
import type { Database } from '../sqlite/database.ts';
import type { ProcessLock } from '../files/process-lock.ts';
import { secretSql, statement } from '../sqlite/statement.ts';

/** An OAuth token pair; `expiresAt` is when the access token ends, milliseconds since 1970. */
export interface StoredPair {
  readonly access: Secret;
  readonly refresh: Secret;
  readonly expiresAt: number;
}

export interface TokenStorage {
  load(): Promise<StoredPair | undefined>;
  /** Forgets the pair, after whoever replaces it has ended. @returns whether there was one. */
  forget(): Promise<boolean>;
  /** Runs `work` while no other process does, with the newest pair; `save` resolves once the new pair is on disk. */
  exclusively<T>(
    work: (pair: StoredPair | undefined, save: (pair: StoredPair) => Promise<void>) => Promise<T>,
  ): Promise<T>;
}

/** A process that replaces pairs, and how it hears that it waits for another one that does. */
export interface TokenStorageUser {
  readonly process: Pick<ProcessLock, 'name' | 'isAlive'>;
  readonly onWait: () => void;
}

export interface TokenStorageOptions {
  readonly client: string;
  readonly user: TokenStorageUser;
  readonly clock: Clock;
  readonly random: Random;
  /** Work under way, so that closing can wait for it. */
  readonly renewals: Set<Promise<unknown>>;
  /** Ends waits for other processes. */
  readonly closing: AbortSignal;
}

/**
 * How long a process may hold the lease of a token pair, in milliseconds: longer than one refresh can take. That of a process that died
 * ends with it.
 */
const leaseTime = 180_000;

/** How long a wait for another process is before it is said, and how often its lease is looked at, in milliseconds. */
const quietWait = 2_000;
const betweenLooks = 100;

interface TokenRow {
  access_token: string | null;
  refresh_token: string | null;
  expires_at: string | null;
}

export function openTokenStore(database: Database, options: TokenStorageOptions): TokenStorage {
  const { client, user, clock, random, renewals, closing } = options;
  const { sqlite } = database;
  // Of one process, too, only one at a time: the settings may be read anew while a pair is replaced.
  const owner = `${user.process.name} ${Buffer.from(random.bytes(4)).toString('hex')}`;
  const find = statement<{ client: string }, TokenRow>(sqlite, (at) =>
    secretSql
      .selectFrom('oauth_tokens')
      .select(['access_token', 'refresh_token', 'expires_at'])
      .where('client', '=', at('client')),
  );
  const introduce = statement<{ client: string }>(sqlite, (at) =>
    secretSql
      .insertInto('oauth_tokens')
      .values({ client: at('client') })
      .onConflict((conflict) => conflict.doNothing()),
  );
  // A lease that ends later than one taken now is from before the machine was started anew.
  const holder = statement<{ client: string; now: number; until: number }, { lease_owner: string | null }>(
    sqlite,
    (at) =>
      secretSql
        .selectFrom('oauth_tokens')
        .select('lease_owner')
        .where('client', '=', at('client'))
        .where('lease_until_ms', '>=', at('now'))
        .where('lease_until_ms', '<=', at('until')),
  );
  const lease = statement<{ client: string; owner: string; until: number }>(sqlite, (at) =>
    secretSql
      .updateTable('oauth_tokens')
      .set({ lease_owner: at('owner'), lease_until_ms: at('until') })
      .where('client', '=', at('client')),
  );
  const release = statement<{ client: string; owner: string }>(sqlite, (at) =>
    secretSql
      .updateTable('oauth_tokens')
      .set({ lease_owner: null, lease_until_ms: null })
      .where('client', '=', at('client'))
      .where('lease_owner', '=', at('owner')),
  );
  const store = statement<{ client: string } & TokenRow>(sqlite, (at) =>
    secretSql
      .updateTable('oauth_tokens')
      .set({ access_token: at('access_token'), refresh_token: at('refresh_token'), expires_at: at('expires_at') })
      .where('client', '=', at('client')),
  );

  /** Whether the process that took this lease still lives. */
  const isHeld = (by: string | null): boolean => by !== null && user.process.isAlive(by.split(' ')[0] ?? by);

  const take = (): Promise<boolean> =>
    database.write(() => {
      introduce.run({ client });
      const now = Math.floor(clock.monotonic());
      const until = now + leaseTime;
      if (isHeld(holder.get({ client, now, until })?.lease_owner ?? null)) return false;
      lease.run({ client, owner, until });
      return true;
    });

  const taken = async (): Promise<void> => {
    const sayAt = clock.monotonic() + quietWait;
    for (let said = false; !(await take());) {
      await sleep(clock, betweenLooks, closing);
      if (said || clock.monotonic() < sayAt) continue;
      said = true;
      user.onWait();
    }
  };

  const load = (): Promise<StoredPair | undefined> => database.read(() => pairOf(find.get({ client })));

  const save = async ({ access, refresh, expiresAt }: StoredPair): Promise<void> => {
    const pair = {
      access_token: access.reveal(),
      refresh_token: refresh.reveal(),
      expires_at: timestamp(expiresAt),
    };
    await database.write(() => store.run({ client, ...pair }));
  };

  const exclusively: TokenStorage['exclusively'] = async (work) => {
    await taken();
    const renewal = (async () => {
      try {
        return await work(await load(), save);
      } finally {
        await database.write(() => release.run({ client, owner }));
      }
    })();
    const ended = renewal.catch(() => undefined).finally(() => renewals.delete(ended));
    renewals.add(ended);
    return renewal;
  };

  return {
    load,
    exclusively,
    forget: () =>
      exclusively(async (pair) => {
        await database.write(() => store.run({ client, access_token: null, refresh_token: null, expires_at: null }));
        return pair !== undefined;
      }),
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
