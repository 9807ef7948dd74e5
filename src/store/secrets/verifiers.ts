/**
 * The secrets of callbacks: the path token in their address, received verification codes, and the signature keys that codes become.
 *
 * A code is a candidate until the service confirms it; then it is proven. The previous key stays valid for a day, because deliveries signed
 * with it may still be under way.
 */
import { timestamp, type Clock, type Random } from '../../domain/clock.ts';
import { Secret } from '../../domain/log.ts';
import { AwaitedCodes } from './awaited-codes.ts';
import type { Database } from '../sqlite/database.ts';
import { shortLockWait } from '../sqlite/lock-wait.ts';
import { PathTokens } from './path-tokens.ts';
import { VerifierStatements } from './verifier-statements.ts';

/** What happened to a received code. */
export type OfferedCode = 'kept' | 'known' | 'not_awaited' | 'full';

export interface Verifiers {
  pathToken(accountId: string): Promise<Secret>;
  /** The path tokens of several accounts; missing ones are created in one commit. */
  pathTokens(accountIds: readonly string[]): Promise<ReadonlyMap<string, Secret>>;
  /** The currently valid keys. Candidates are not valid: anyone may have sent them. */
  usable(accountId: string): Promise<Secret[]>;
  /** Whether the key of this callback is known and no newer code was requested, which may be in force without our knowing it. */
  hasKey(accountId: string, callbackid: number): Promise<boolean>;

  /** Records, before the request is sent, that a code for this event will come; with its callback, if known. */
  expect(accountId: string, event: string, callbackid: number | null): Promise<void>;
  /** Records that no code for this event is awaited. */
  expectNone(accountId: string, event: string): Promise<void>;
  /** Stores a received code if one is awaited for that callback; a resend may repeat a known one. On disk when this resolves. */
  offer(accountId: string, code: Secret, callbackid: number | null): Promise<OfferedCode>;
  /** Received codes for this callback or without one, the newest first. */
  candidates(accountId: string, callbackid: number): Promise<Secret[]>;
  /** Removes a code that the service rejected. */
  drop(accountId: string, code: Secret): Promise<void>;
  /** Records that the service accepted the code: it becomes the callback's key, and nothing is awaited for the event. */
  prove(accountId: string, event: string, callbackid: number, code: Secret): Promise<void>;
  /** Retires the key of a callback that no longer exists: it stays valid for a day; its candidates are removed. */
  retire(accountId: string, callbackid: number): Promise<void>;

  /** Records a registration before it is sent. @returns false where there were too many of this event within a day. */
  mayRegister(accountId: string, event: string): Promise<boolean>;
}

const day = 86_400_000;
const mostCandidates = 8;

export class SqliteVerifiers implements Verifiers {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #pathToken: PathTokens;
  readonly #awaited: AwaitedCodes;
  readonly #statements: VerifierStatements;

  constructor(database: Database, clock: Clock, random: Random) {
    this.#database = database;
    this.#clock = clock;
    const { sqlite } = database;
    this.#pathToken = new PathTokens(sqlite, random);
    this.#awaited = new AwaitedCodes(sqlite);
    this.#statements = new VerifierStatements(sqlite);
  }

  async pathToken(account_id: string): Promise<Secret> {
    const known = await this.#database.read(() => this.#pathToken.find(account_id));
    return new Secret(known ?? (await this.#database.write(() => this.#pathToken.make(account_id))));
  }

  async pathTokens(accountIds: readonly string[]): Promise<ReadonlyMap<string, Secret>> {
    const known = await this.#database.read(() => accountIds.map((id) => [id, this.#pathToken.find(id)] as const));
    const missing = known.flatMap(([id, token]) => (token === undefined ? [id] : []));
    const made =
      missing.length === 0 ? [] : await this.#database.write(() => missing.map((id) => this.#pathToken.make(id)));
    const tokens = new Map(known.map(([id, token]) => [id, new Secret(token ?? '')]));
    for (const [index, id] of missing.entries()) tokens.set(id, new Secret(made[index] ?? ''));
    return tokens;
  }

  // Called for each delivery; a single statement is consistent without a transaction.
  usable(account_id: string): Promise<Secret[]> {
    return this.#database.retryWhileLocked(() =>
      this.#statements.usable.all({ account_id, now: timestamp(this.#clock.now()) }).map(this.#secret),
    );
  }

  hasKey(account_id: string, callbackid: number): Promise<boolean> {
    return this.#database.read(
      () =>
        this.#statements.proven.get({ account_id, callbackid }) !== undefined &&
        !this.#awaited.isAwaitedFor(account_id, callbackid),
    );
  }

  expect(account_id: string, event: string, callbackid: number | null): Promise<void> {
    return this.#database.write(() => this.#awaited.expect({ account_id, event, callbackid }, this.#clock.now()));
  }

  expectNone(account_id: string, event: string): Promise<void> {
    return this.#database.write(() => this.#awaited.remove({ account_id, event }));
  }

  offer(account_id: string, code: Secret, callbackid: number | null): Promise<OfferedCode> {
    return this.#database.write(() => {
      const verifier = code.reveal();
      const received_at = timestamp(this.#clock.now());
      const known = this.#statements.find.get({ account_id, verifier });
      if (!this.#awaited.isAwaited(account_id, callbackid)) return known ? 'known' : 'not_awaited';
      if (known) {
        this.#statements.markReceivedAgain.run({ account_id, verifier, callbackid, received_at });
        return known.state === 'candidate' ? 'known' : 'kept';
      }
      if (this.#statements.candidates.all({ account_id }).length >= mostCandidates) return 'full';
      this.#statements.add.run({ account_id, verifier, callbackid, received_at });
      return 'kept';
    }, shortLockWait);
  }

  candidates(account_id: string, callbackid: number): Promise<Secret[]> {
    return this.#database.read(() =>
      this.#statements.candidates
        .all({ account_id })
        .filter((code) => code.callbackid === null || code.callbackid === callbackid)
        .map(this.#secret),
    );
  }

  drop(account_id: string, code: Secret): Promise<void> {
    return this.#database.write(() => {
      const wrong = { account_id, verifier: code.reveal() };
      this.#statements.drop.run(wrong);
      this.#statements.clearReceivedAgain.run(wrong);
    });
  }

  prove(account_id: string, event: string, callbackid: number, code: Secret): Promise<void> {
    return this.#database.write(() => {
      this.#end(account_id, callbackid);
      this.#statements.makeProven.run({
        account_id,
        callbackid,
        verifier: code.reveal(),
        received_at: timestamp(this.#clock.now()),
      });
      this.#awaited.remove({ account_id, event });
    });
  }

  retire(account_id: string, callbackid: number): Promise<void> {
    return this.#database.write(() => this.#end(account_id, callbackid));
  }

  mayRegister(account_id: string, event: string): Promise<boolean> {
    return this.#database.write(() => this.#awaited.register({ account_id, event }, this.#clock.now()));
  }

  #secret({ verifier }: { verifier: string }): Secret {
    return new Secret(verifier);
  }

  #end(account_id: string, callbackid: number): void {
    const now = this.#clock.now();
    this.#statements.dropExpired.run({ now: timestamp(now) });
    this.#statements.retire.run({ account_id, callbackid, expires_at: timestamp(lastUseOf(now)) });
    this.#statements.dropCandidates.run({ account_id, callbackid });
    this.#awaited.removeOfCallback(account_id, callbackid);
  }
}

/** Until when a key that is retired at `retired` stays valid, milliseconds since 1970. */
export function lastUseOf(retired: number): number {
  return retired + day;
}
