/**
 * The secrets of callbacks: the path token in their address, received verification codes, and the signature keys that codes become.
 *
 * A code is a candidate until the service confirms it; then it is proven. The previous key stays valid for a day, because deliveries signed
 * with it may still be under way.
 *
 * Codes are accepted only while one is expected for that account, at its secret address, and trusted only when the service then shows the
 * callback as verified.
 */
import { sql, type Expression, type ExpressionBuilder, type RawBuilder, type SqlBool } from 'kysely';
import { timestamp, type Clock, type Random } from '../../domain/clock.ts';
import { Secret } from '../../domain/log.ts';
import { shortLockWait, type Database } from '../sqlite/database.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import type { Statement } from '../sqlite/plain-statement.ts';
import type { SecretTables, VerifierTable } from '../sqlite/schema.ts';
import { secretSql, statement } from '../sqlite/statement.ts';

/** What happened to a received code. */
export type OfferedCode = 'kept' | 'known' | 'not_awaited' | 'full';

const day = 86_400_000;
const mostCandidates = 8;

export class Verifiers {
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

  /** The path tokens of several accounts; missing ones are created in one commit. */
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
  /** The currently valid keys. Candidates are not valid: anyone may have sent them. */
  usable(account_id: string): Promise<Secret[]> {
    return this.#database.retryWhileLocked(() =>
      this.#statements.usable.all({ account_id, now: timestamp(this.#clock.now()) }).map(this.#secret),
    );
  }

  /** Whether the key of this callback is known and no newer code was requested, which may be in force without our knowing it. */
  hasKey(account_id: string, callbackid: number): Promise<boolean> {
    return this.#database.read(
      () =>
        this.#statements.proven.get({ account_id, callbackid }) !== undefined &&
        !this.#awaited.isAwaitedFor(account_id, callbackid),
    );
  }

  /** Records, before the request is sent, that a code for this event will come; with its callback, if known. */
  expect(account_id: string, event: string, callbackid: number | null): Promise<void> {
    return this.#database.write(() => this.#awaited.expect({ account_id, event, callbackid }, this.#clock.now()));
  }

  /** Records that no code for this event is awaited. */
  expectNone(account_id: string, event: string): Promise<void> {
    return this.#database.write(() => this.#awaited.remove({ account_id, event }));
  }

  /** Stores a received code if one is awaited for that callback; a resend may repeat a known one. On disk when this resolves. */
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

  /** Received codes for this callback or without one, the newest first. */
  candidates(account_id: string, callbackid: number): Promise<Secret[]> {
    return this.#database.read(() =>
      this.#statements.candidates
        .all({ account_id })
        .filter((code) => code.callbackid === null || code.callbackid === callbackid)
        .map(this.#secret),
    );
  }

  /** Removes a code that the service rejected. */
  drop(account_id: string, code: Secret): Promise<void> {
    return this.#database.write(() => {
      const wrong = { account_id, verifier: code.reveal() };
      this.#statements.drop.run(wrong);
      this.#statements.clearReceivedAgain.run(wrong);
    });
  }

  /** Records that the service accepted the code: it becomes the callback's key, and nothing is awaited for the event. */
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

  /** Retires the key of a callback that no longer exists: it stays valid for a day; its candidates are removed. */
  retire(account_id: string, callbackid: number): Promise<void> {
    return this.#database.write(() => this.#end(account_id, callbackid));
  }

  /** Records a registration before it is sent. @returns false where there were too many of this event within a day. */
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

interface OfAccount {
  account_id: string;
}
type OfCallback = OfAccount & { callbackid: number };
type OfCode = OfAccount & { verifier: string };
type Code = Pick<VerifierTable, 'verifier' | 'callbackid'>;
type Found = Code & Pick<VerifierTable, 'state'>;

/** The rows of verifiers: each change of state is one statement. */
class VerifierStatements {
  readonly usable: Statement<OfAccount & { now: string }, Code>;
  readonly proven: Statement<OfCallback, Code>;
  readonly find: Statement<OfCode, Found>;
  /** Codes that wait to be tried, the newest first. */
  readonly candidates: Statement<OfAccount, Code>;
  readonly add: Statement<OfCode & { callbackid: number | null; received_at: string }>;
  /** Marks a known code as received again; where its callback no longer exists, it may be for another one. */
  readonly markReceivedAgain: Statement<OfCode & { callbackid: number | null; received_at: string }>;
  readonly drop: Statement<OfCode>;
  /** Clears the mark of a code that was tried again and was wrong; as a key it stays what it was. */
  readonly clearReceivedAgain: Statement<OfCode>;
  /** Makes a code the proven one of a callback. */
  readonly makeProven: Statement<OfCode & OfCallback & { received_at: string }>;
  /** Lets the proven code of a callback expire. */
  readonly retire: Statement<OfCallback & { expires_at: string }>;
  /** Candidates of a callback, and those without one. */
  readonly dropCandidates: Statement<OfCallback>;
  readonly dropExpired: Statement<{ now: string }>;

  constructor(sqlite: Sqlite) {
    this.usable = statement(sqlite, (at) =>
      secretSql
        .selectFrom('verifiers')
        .select(['verifier', 'callbackid'])
        .where('account_id', '=', at('account_id'))
        .where((row) => isUsable(row, at('now')))
        .orderBy('state', 'desc'),
    );
    this.proven = statement(sqlite, (at) =>
      secretSql
        .selectFrom('verifiers')
        .select(['verifier', 'callbackid'])
        .where('account_id', '=', at('account_id'))
        .where('callbackid', '=', at('callbackid'))
        .where('state', '=', 'proven'),
    );
    this.find = statement(sqlite, (at) =>
      secretSql
        .selectFrom('verifiers')
        .select(['verifier', 'callbackid', 'state'])
        .where('account_id', '=', at('account_id'))
        .where('verifier', '=', at('verifier')),
    );
    this.candidates = statement(sqlite, (at) =>
      secretSql
        .selectFrom('verifiers')
        .select(['verifier', 'callbackid'])
        .where('account_id', '=', at('account_id'))
        .where((row) => row.or([row('state', '=', 'candidate'), row('came_again', '=', 1)]))
        .orderBy('received_at', 'desc'),
    );
    this.add = statement(sqlite, (at) =>
      secretSql.insertInto('verifiers').values({
        account_id: at('account_id'),
        verifier: at('verifier'),
        callbackid: at('callbackid'),
        state: 'candidate',
        received_at: at('received_at'),
        expires_at: null,
        came_again: 0,
      }),
    );
    this.markReceivedAgain = statement(sqlite, (at) =>
      secretSql
        .updateTable('verifiers')
        .set({
          came_again: 1,
          received_at: at('received_at'),
          callbackid: sql`iif(state = 'previous', coalesce(${at('callbackid')}, callbackid), callbackid)`,
        })
        .where('account_id', '=', at('account_id'))
        .where('verifier', '=', at('verifier'))
        .where('state', '<>', 'candidate'),
    );
    this.clearReceivedAgain = statement(sqlite, (at) =>
      secretSql
        .updateTable('verifiers')
        .set({ came_again: 0 })
        .where('account_id', '=', at('account_id'))
        .where('verifier', '=', at('verifier')),
    );
    this.drop = statement(sqlite, (at) =>
      secretSql
        .deleteFrom('verifiers')
        .where('account_id', '=', at('account_id'))
        .where('verifier', '=', at('verifier'))
        .where('state', '=', 'candidate'),
    );
    this.makeProven = statement(sqlite, (at) =>
      secretSql
        .insertInto('verifiers')
        .values({
          account_id: at('account_id'),
          verifier: at('verifier'),
          callbackid: at('callbackid'),
          state: 'proven',
          received_at: at('received_at'),
          expires_at: null,
          came_again: 0,
        })
        .onConflict((conflict) =>
          conflict
            .columns(['account_id', 'verifier'])
            .doUpdateSet({ state: 'proven', callbackid: at('callbackid'), expires_at: null, came_again: 0 }),
        ),
    );
    this.retire = statement(sqlite, (at) =>
      secretSql
        .updateTable('verifiers')
        .set({ state: 'previous', expires_at: at('expires_at') })
        .where('account_id', '=', at('account_id'))
        .where('callbackid', '=', at('callbackid'))
        .where('state', '=', 'proven'),
    );
    this.dropCandidates = statement(sqlite, (at) =>
      secretSql
        .deleteFrom('verifiers')
        .where('account_id', '=', at('account_id'))
        .where((row) => row.or([row('callbackid', '=', at('callbackid')), row('callbackid', 'is', null)]))
        .where('state', '=', 'candidate'),
    );
    this.dropExpired = statement(sqlite, (at) =>
      secretSql.deleteFrom('verifiers').where('expires_at', '<=', at('now')),
    );
  }
}

/** Whether a code is a valid key: proven, or replaced but not expired. */
export function isUsable(
  row: ExpressionBuilder<SecretTables, 'verifiers'>,
  now: RawBuilder<string>,
): Expression<SqlBool> {
  return row.or([row('state', '=', 'proven'), row.and([row('state', '=', 'previous'), row('expires_at', '>', now)])]);
}

/**
 * Verification codes that are awaited, so that unexpected codes are recognised; and recent registrations, so that an error cannot register
 * without end.
 */

interface OfEvent {
  account_id: string;
  event: string;
}
const registrationsADay = 3;

/** Each method runs inside a transaction. */
class AwaitedCodes {
  readonly #expect: Statement<OfEvent & { callbackid: number | null; asked_at: string }>;
  readonly #awaited: Statement<{ account_id: string }, { callbackid: number | null }>;
  readonly #arrived: Statement<OfEvent>;
  readonly #gone: Statement<{ account_id: string; callbackid: number }>;
  readonly #forget: Statement<{ before: string }>;
  readonly #count: Statement<OfEvent, { registrations: number }>;
  readonly #register: Statement<OfEvent & { registered_at: string }>;

  constructor(sqlite: Sqlite) {
    this.#expect = statement(sqlite, (at) =>
      secretSql
        .insertInto('awaited_codes')
        .values({
          account_id: at('account_id'),
          event: at('event'),
          callbackid: at('callbackid'),
          asked_at: at('asked_at'),
        })
        .onConflict((conflict) =>
          conflict
            .columns(['account_id', 'event'])
            .doUpdateSet({ callbackid: at('callbackid'), asked_at: at('asked_at') }),
        ),
    );
    this.#awaited = statement(sqlite, (at) =>
      secretSql.selectFrom('awaited_codes').select('callbackid').where('account_id', '=', at('account_id')),
    );
    this.#arrived = statement(sqlite, (at) =>
      secretSql.deleteFrom('awaited_codes').where('account_id', '=', at('account_id')).where('event', '=', at('event')),
    );
    this.#gone = statement(sqlite, (at) =>
      secretSql
        .deleteFrom('awaited_codes')
        .where('account_id', '=', at('account_id'))
        .where('callbackid', '=', at('callbackid')),
    );
    this.#forget = statement(sqlite, (at) =>
      secretSql.deleteFrom('registrations').where('registered_at', '<=', at('before')),
    );
    this.#count = statement(sqlite, (at) =>
      secretSql
        .selectFrom('registrations')
        .select((row) => row.fn.countAll<number>().as('registrations'))
        .where('account_id', '=', at('account_id'))
        .where('event', '=', at('event')),
    );
    this.#register = statement(sqlite, (at) =>
      secretSql
        .insertInto('registrations')
        .values({ account_id: at('account_id'), event: at('event'), registered_at: at('registered_at') }),
    );
  }

  expect(of: OfEvent & { callbackid: number | null }, now: number): void {
    this.#expect.run({ ...of, asked_at: timestamp(now) });
  }

  /** Whether a code is awaited that may belong to this callback; null for a code that names none. */
  isAwaited(account_id: string, callbackid: number | null): boolean {
    return this.#awaited
      .all({ account_id })
      .some((row) => row.callbackid === null || callbackid === null || row.callbackid === callbackid);
  }

  /** Whether a code for exactly this callback is awaited. */
  isAwaitedFor(account_id: string, callbackid: number): boolean {
    return this.#awaited.all({ account_id }).some((row) => row.callbackid === callbackid);
  }

  remove(of: OfEvent): void {
    this.#arrived.run(of);
  }

  /** Removes the awaited code of a callback that no longer exists. */
  removeOfCallback(account_id: string, callbackid: number): void {
    this.#gone.run({ account_id, callbackid });
  }

  /** Records a registration. @returns false where there were too many of this event within a day. */
  register(of: OfEvent, now: number): boolean {
    this.#forget.run({ before: timestamp(now - day) });
    if ((this.#count.get(of)?.registrations ?? 0) >= registrationsADay) return false;
    this.#register.run({ ...of, registered_at: timestamp(now) });
    return true;
  }
}

/** The unguessable part of each account's callback address: 128 random bits, created once. */
class PathTokens {
  readonly #random: Random;
  readonly #select: Statement<{ account_id: string }, { path_token: string }>;
  readonly #add: Statement<{ account_id: string; path_token: string }>;

  constructor(sqlite: Sqlite, random: Random) {
    this.#random = random;
    this.#select = statement(sqlite, (at) =>
      secretSql.selectFrom('path_tokens').select('path_token').where('account_id', '=', at('account_id')),
    );
    this.#add = statement(sqlite, (at) =>
      secretSql.insertInto('path_tokens').values({ account_id: at('account_id'), path_token: at('path_token') }),
    );
  }

  find(account_id: string): string | undefined {
    return this.#select.get({ account_id })?.path_token;
  }

  /** The path token of an account, created where there is none. Runs inside a transaction. */
  make(account_id: string): string {
    const known = this.find(account_id);
    if (known !== undefined) return known;
    const path_token = Buffer.from(this.#random.bytes(16)).toString('base64url');
    this.#add.run({ account_id, path_token });
    return path_token;
  }
}
