/** OAuth token pairs. One process at a time replaces a pair, because a refresh token works once. */
import { parseInstant, sleep, sleptThrough, timestamp, type Clock, type Random } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import { Secret, type TokenPair } from '../../domain/secret.ts';
import type { ProcessLock } from '../../domain/processes.ts';
import { shortLockWait, type Database } from '../sql/database.ts';
import { statement, Operations } from '../sql/statement.ts';
import type { Sealing } from './sealing.ts';
import type { LeaseRule } from './secrets-place.ts';

/** Gets the newest pair; `save` resolves when a new one is on disk; nothing is sent any more once `hold` is lost. */
type Work<T> = (pair: TokenPair | undefined, save: (pair: TokenPair) => Promise<void>, hold: Hold) => Promise<T>;

/** By both clocks, in milliseconds. */
interface Moment {
  readonly wall: number;
  readonly monotonic: number;
}

/**
 * A lease as its owner sees it: it is certain for a while after each renewal, and lost when that is over, before another process may take it.
 * A process that hung asks the clocks before it goes on, because its timers may come late.
 */
class Hold {
  readonly #clock: Pick<Clock, 'now' | 'monotonic' | 'timer'>;
  readonly #certain: number;
  readonly #lost = new AbortController();
  #since: Moment;
  #cancel = (): void => undefined;

  /** @param certain for how many milliseconds after `since` it is certain */
  constructor(clock: Pick<Clock, 'now' | 'monotonic' | 'timer'>, certain: number, since: Moment) {
    this.#clock = clock;
    this.#certain = certain;
    this.#since = since;
    this.renewed(since);
  }

  /** Aborted when it is lost. */
  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  /** @throws MirrorError `database_locked` once it is lost. */
  assert(): void {
    const { wall, monotonic } = this.#since;
    // The one stands still while the machine sleeps, the other may be set.
    const age = Math.max(this.#clock.monotonic() - monotonic, this.#clock.now() - wall);
    if (age >= this.#certain) this.lose();
    this.signal.throwIfAborted();
  }

  /** It was renewed by what was sent then. */
  renewed(since: Moment): void {
    this.#since = since;
    this.#cancel();
    const left = since.monotonic + this.#certain - this.#clock.monotonic();
    this.#cancel = this.#clock.timer(Math.max(0, left), () => this.lose());
  }

  lose(): void {
    this.#cancel();
    this.#lost.abort(
      new MirrorError(
        'database_locked',
        'The right to renew the access token could not be kept: the secrets cannot be written.',
      ),
    );
  }

  /** It is needed no longer. */
  end(): void {
    this.#cancel();
  }
}

/** A process that replaces pairs; `onWait` is called when it waits for another one. */
export interface TokenStoreProcess {
  readonly process: Pick<ProcessLock, 'name' | 'isAlive'>;
  readonly onWait: () => void;
}

export interface TokenStoreOptions {
  readonly client: string;
  readonly user: TokenStoreProcess;
  readonly clock: Clock;
  readonly random: Random;
  readonly sealing: Sealing;
  readonly leases: LeaseRule;
  /** Renewals under way, so that closing can wait for them. */
  readonly renewals: Set<Promise<unknown>>;
  /** Ends the wait for other processes. */
  readonly closing: AbortSignal;
}

/** By how much sooner its owner gives a lease up than others may take it, in milliseconds. */
const reserve = 5_000;

/** How long to wait for another process before that is reported, and how often to check, in milliseconds. */
const noticeAfter = 2_000;
const leasePollInterval = 100;

interface TokenRow {
  access_token: string | null;
  refresh_token: string | null;
  expires_at: string | null;
}

export class TokenStore extends Operations {
  readonly #database: Database;
  readonly #options: TokenStoreOptions;
  readonly #client: string;
  /** Distinguishes owners within a process, because the settings may be reloaded during a replacement. */
  readonly #owner: string;
  readonly #find = statement(this.db)<{ client: string }, TokenRow>`
    SELECT access_token, refresh_token, expires_at FROM oauth_tokens WHERE client = ${'client'}`;
  readonly #introduce = statement(this.db)<{ client: string }>`
    INSERT INTO oauth_tokens (client) VALUES (${'client'}) ON CONFLICT DO NOTHING`;
  readonly #holder = statement(this.db)<
    { client: string; now: number; latest: number },
    { lease_owner: string | null }
  >`
    SELECT lease_owner FROM oauth_tokens
    WHERE client = ${'client'} AND lease_until_ms BETWEEN ${'now'} AND ${'latest'}`;
  readonly #lease = statement(this.db)<{ client: string; owner: string; until: number }>`
    UPDATE oauth_tokens SET lease_owner = ${'owner'}, lease_until_ms = ${'until'}
    WHERE client = ${'client'}`;
  readonly #extend = statement(this.db)<{ client: string; owner: string; until: number }>`
    UPDATE oauth_tokens SET lease_until_ms = ${'until'}
    WHERE client = ${'client'} AND lease_owner = ${'owner'}`;
  readonly #release = statement(this.db)<{ client: string; owner: string }>`
    UPDATE oauth_tokens SET lease_owner = NULL, lease_until_ms = NULL
    WHERE client = ${'client'} AND lease_owner = ${'owner'}`;
  readonly #store = statement(this.db)<{ client: string } & TokenRow>`
    UPDATE oauth_tokens SET access_token = ${'access_token'}, refresh_token = ${'refresh_token'},
      expires_at = ${'expires_at'}
    WHERE client = ${'client'}`;

  constructor(database: Database, options: TokenStoreOptions) {
    super(database.connection);
    this.#database = database;
    this.#options = options;
    this.#client = options.client;
    this.#owner = `${options.user.process.name} ${Buffer.from(options.random.bytes(4)).toString('hex')}`;
  }

  load(): Promise<TokenPair | undefined> {
    return this.#database.read(async () => this.#pairIn(await this.#find.get({ client: this.#client })));
  }

  /** Runs `work` while no other process can. */
  async exclusively<T>(work: Work<T>): Promise<T> {
    const { renewals } = this.#options;
    const hold = await this.#takeLease();
    const renewal = this.#workAndRelease(work, hold);
    const ended = renewal.catch(() => undefined).finally(() => renewals.delete(ended));
    renewals.add(ended);
    return renewal;
  }

  /** Removes the pair, after any replacement under way. @returns whether there was one. */
  forget(): Promise<boolean> {
    return this.exclusively(async (pair) => {
      await this.#write({ access_token: null, refresh_token: null, expires_at: null });
      return pair !== undefined;
    });
  }

  async #workAndRelease<T>(work: Work<T>, hold: Hold): Promise<T> {
    const ended = new AbortController();
    const keeping = this.#keep(hold, ended.signal);
    try {
      return await work(await this.load(), (pair) => this.#save(pair), hold);
    } finally {
      ended.abort();
      await keeping;
      hold.end();
      await this.#database.write(() => this.#release.send({ client: this.#client, owner: this.#owner }));
    }
  }

  /** Renews the lease until the signal is aborted. */
  async #keep(hold: Hold, signal: AbortSignal): Promise<void> {
    const { clock, leases } = this.#options;
    if (leases.renewedEvery === undefined) return;
    while (await sleptThrough(clock, leases.renewedEvery, signal)) {
      const begun = this.#moment();
      const extended = await this.#database
        .write(async () => {
          const until = (await leases.now()) + leases.lasts;
          return this.#extend.run({ client: this.#client, owner: this.#owner, until });
        }, shortLockWait)
        // Without an answer it is tried again, as long as the lease is certain.
        .catch(() => undefined);
      if (extended === 0) hold.lose();
      else if (extended !== undefined) hold.renewed(begun);
    }
  }

  #moment(): Moment {
    const { clock } = this.#options;
    return { wall: clock.now(), monotonic: clock.monotonic() };
  }

  /** Takes the lease when no other process holds it. */
  async #takeLease(): Promise<Hold> {
    const { clock, closing, leases, user } = this.#options;
    const noticeAt = clock.monotonic() + noticeAfter;
    for (let isNoticed = false; ;) {
      const begun = this.#moment();
      if (await this.#tryLease()) return new Hold(clock, leases.lasts - reserve, begun);
      await sleep(clock, leasePollInterval, closing);
      if (isNoticed || clock.monotonic() < noticeAt) continue;
      isNoticed = true;
      user.onWait();
    }
  }

  #tryLease(): Promise<boolean> {
    const client = this.#client;
    return this.#database.write(async () => {
      const { leases } = this.#options;
      this.#introduce.send({ client });
      const now = await leases.now();
      const until = now + leases.lasts;
      const holder = await this.#holder.get({ client, now, latest: until + leases.tolerance });
      if (await this.#isHeld(holder?.lease_owner ?? null)) return false;
      this.#lease.send({ client, owner: this.#owner, until });
      return true;
    });
  }

  async #isHeld(by: string | null): Promise<boolean> {
    const { leases, user } = this.#options;
    return by !== null && (!leases.endsWithProcess || (await user.process.isAlive(by.split(' ')[0] ?? by)));
  }

  #save({ access, refresh, expiresAt }: TokenPair): Promise<void> {
    const { sealing } = this.#options;
    return this.#write({
      access_token: sealing.seal('access token', this.#client, access.reveal()),
      refresh_token: sealing.seal('refresh token', this.#client, refresh.reveal()),
      expires_at: timestamp(expiresAt),
    });
  }

  #pairIn(row: TokenRow | undefined): TokenPair | undefined {
    if (row?.access_token == null || row.refresh_token === null) return undefined;
    const { sealing } = this.#options;
    return {
      access: new Secret(sealing.open('access token', this.#client, row.access_token)),
      refresh: new Secret(sealing.open('refresh token', this.#client, row.refresh_token)),
      expiresAt: parseInstant(row.expires_at ?? '') ?? 0,
    };
  }

  #write(row: TokenRow): Promise<void> {
    return this.#database.write(() => this.#store.send({ client: this.#client, ...row }));
  }
}
