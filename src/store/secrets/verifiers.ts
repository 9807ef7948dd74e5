/**
 * The secrets of callbacks: the path token in their address, received verification codes, and the signature keys that codes become; and in
 * which orders the service was found to sign, without which its signatures are not understood.
 *
 * Codes are accepted only while one is expected for that account, at its secret address, and trusted only when the service then shows the
 * callback as verified. What becomes of a code, and when it is a key: `domain/verifier.ts`.
 *
 * Who knows the address can send codes, too. So those that name an awaited callback have places of their own, which no others take, and of each
 * kind a new one takes the place of the oldest.
 */
import { sql } from 'kysely';
import { timingSafeEqual } from 'node:crypto';
import { inOrder } from '../../domain/concurrency.ts';
import { parseInstant, timestamp, type Clock, type Random } from '../../domain/clock.ts';
import { Secret } from '../../domain/secret.ts';
import { isKey, lastUseOf, nextCode, waitsToBeTried, type Code, type CodeEvidence } from '../../domain/verifier.ts';
import { shortLockWait, type Database } from '../sql/database.ts';
import { columns, secretSql, statement, Operations, type Connection } from '../sql/statement.ts';
import type { VerifierTable } from '../sql/schema.ts';
import type { Sealing } from './sealing.ts';

/** What happened to a received code; `displaced`: it was kept, and the oldest of its kind forgotten for it. */
export type OfferedCode = 'kept' | 'displaced' | 'known' | 'not_awaited';

/** The tokens of an account's callback addresses: `previous` while a rotation is under way. */
export interface AddressTokens {
  readonly current: Secret;
  readonly previous: Secret | undefined;
}

/** Names of keys of a delivery in the order in which a service signs them. */
export type KeyOrder = readonly string[];

const day = 86_400_000;
/** How many codes wait for each awaited callback, and how many that name none of these. */
const maxCandidates = 32;
const maxOrders = 8;

export class Verifiers {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #sealing: Sealing;
  readonly #pathToken: PathTokens;
  readonly #awaited: AwaitedCodes;
  readonly #codes: ReturnType<typeof codeRows>;
  readonly #orders: ReturnType<typeof orderRows>;

  constructor(database: Database, clock: Clock, random: Random, sealing: Sealing) {
    this.#database = database;
    this.#clock = clock;
    this.#sealing = sealing;
    const { connection: db } = database;
    this.#pathToken = new PathTokens(db, random, sealing);
    this.#awaited = new AwaitedCodes(db, sealing);
    this.#codes = codeRows(db);
    this.#orders = orderRows(db);
  }

  async pathToken(account_id: string): Promise<Secret> {
    const known = await this.#database.read(() => this.#pathToken.find(account_id));
    return new Secret(known ?? (await this.#database.write(() => this.#pathToken.make(account_id))));
  }

  /** The path token of an account, and the one before it while a rotation is under way. */
  async addressTokens(account_id: string): Promise<AddressTokens> {
    const current = await this.pathToken(account_id);
    const previous = await this.#database.read(() => this.#pathToken.before(account_id));
    return { current, previous: previous === null ? undefined : new Secret(previous) };
  }

  /** The path tokens before those rotations that are under way, by account. */
  previousTokens(): Promise<ReadonlyMap<string, Secret>> {
    return this.#database.read(
      async () =>
        new Map((await this.#pathToken.rotations()).map((row) => [row.account_id, new Secret(row.previous_token)])),
    );
  }

  /** Begins to replace the path token of an account; the one before stays valid until `endRotation`. @returns whether none was under way. */
  rotate(account_id: string): Promise<boolean> {
    return this.#database.write(() => this.#pathToken.rotate(account_id));
  }

  /** Nothing leads to the path token before `current` any more. */
  endRotation(account_id: string, current: Secret): Promise<void> {
    return this.#database.write(() => this.#pathToken.endRotation(account_id, current));
  }

  /** The path tokens of several accounts; missing ones are created in one commit. */
  async pathTokens(accountIds: readonly string[]): Promise<ReadonlyMap<string, Secret>> {
    const known = await this.#database.read(() =>
      inOrder(accountIds, async (id) => [id, await this.#pathToken.find(id)] as const),
    );
    const missing = known.flatMap(([id, token]) => (token === undefined ? [id] : []));
    const made =
      missing.length === 0 ? [] : await this.#database.write(() => inOrder(missing, (id) => this.#pathToken.make(id)));
    const tokens = new Map(known.map(([id, token]) => [id, new Secret(token ?? '')]));
    for (const [index, id] of missing.entries()) tokens.set(id, new Secret(made[index] ?? ''));
    return tokens;
  }

  /** The currently valid keys, those of callbacks that exist first. */
  // Called for each delivery; a single statement is consistent without a transaction.
  usable(account_id: string): Promise<Secret[]> {
    return this.#database.readOne(async () => {
      const now = timestamp(this.#clock.now());
      const keys = (await this.#codes.ofAccount.all({ account_id })).filter((row) =>
        isKey(row, (row.expires_at ?? '') <= now),
      );
      return [...keys.filter(isProven), ...keys.filter((row) => !isProven(row))].map((row) => this.#codeIn(row));
    });
  }

  /** Whether the key of this callback is known and no newer code was requested, which may be in force without our knowing it. */
  hasKey(account_id: string, callbackid: number): Promise<boolean> {
    return this.#database.read(
      async () =>
        (await this.#codes.ofAccount.all({ account_id })).some(
          (row) => isProven(row) && row.callbackid === callbackid,
        ) && !(await this.#awaited.isAwaitedFor(account_id, callbackid)),
    );
  }

  /** Records, before the request is sent, that a code for this event will come; with its callback, if known. */
  expect(account_id: string, event: string, callbackid: number | null): Promise<void> {
    return this.#database.write(() => this.#awaited.expect({ account_id, event, callbackid }, this.#clock.now()));
  }

  expectNone(account_id: string, event: string): Promise<void> {
    return this.#database.write(() => this.#awaited.remove({ account_id, event }));
  }

  /**
   * Stores a received code if one is awaited for that callback, if need be in place of the oldest of its kind; a resend may repeat a known
   * one. On disk when this resolves.
   */
  offer(account_id: string, code: Secret, callbackid: number | null): Promise<OfferedCode> {
    return this.#database.write(async () => {
      const rows = await this.#codes.ofAccount.all({ account_id });
      const known = rows.find((row) => this.#isCode(row, code));
      if (!(await this.#awaited.isAwaited(account_id, callbackid))) return known ? 'known' : 'not_awaited';
      if (known?.state === 'candidate') return 'known';
      const placeOf = async (id: number | null): Promise<number | null> =>
        id !== null && (await this.#awaited.isAwaitedFor(account_id, id)) ? id : null;
      const place = await placeOf(callbackid);
      const waiting: typeof rows = [];
      for (const row of rows)
        if (waitsToBeTried(codeOf(row)) && (await placeOf(row.callbackid)) === place) waiting.push(row);
      const displaced = waiting.slice(maxCandidates - 1);
      for (const row of displaced) await this.#move(row, 'wrong');
      const received_at = timestamp(this.#clock.now());
      // The callback of a previous key no longer exists, or has another one: the code may be for another callback.
      const of = known?.state === 'proven' ? known.callbackid : (callbackid ?? known?.callbackid ?? null);
      await this.#move(known ?? this.#newCode(account_id, code), 'received', { callbackid: of, received_at });
      return displaced.length > 0 ? 'displaced' : 'kept';
    }, shortLockWait);
  }

  /** When the newest code came that waits to be tried, by account. */
  waitingCodes(): Promise<ReadonlyMap<string, string>> {
    return this.#database.readOne(
      async () => new Map((await this.#codes.waiting.all({})).map(({ account_id, newest }) => [account_id, newest])),
    );
  }

  /** Received codes for this callback, and then those without one, the newest first. */
  candidates(account_id: string, callbackid: number): Promise<Secret[]> {
    return this.#database.read(async () => {
      const rows = (await this.#codes.ofAccount.all({ account_id })).filter((row) => waitsToBeTried(codeOf(row)));
      const ofThis = [callbackid, null].flatMap((id) => rows.filter((row) => row.callbackid === id));
      return ofThis.map((row) => this.#codeIn(row));
    });
  }

  drop(account_id: string, code: Secret): Promise<void> {
    return this.#database.write(async () => {
      const wrong = await this.#find(account_id, code);
      if (wrong) await this.#move(wrong, 'wrong');
    });
  }

  /**
   * Records that the service accepted the code: it becomes the callback's key, and nothing is awaited for the event.
   * @returns how many other codes were of no use then, and are forgotten untried.
   */
  prove(account_id: string, event: string, callbackid: number, code: Secret): Promise<number> {
    return this.#database.write(() => this.#prove(account_id, event, callbackid, code));
  }

  /**
   * The same for a code that was a candidate when it was tried. Where it no longer is one, another process proved a later code of the callback
   * meanwhile, which stays the key.
   */
  proveCandidate(account_id: string, event: string, callbackid: number, code: Secret): Promise<number> {
    return this.#database.write(async () => {
      const keys = (await this.#codes.ofAccount.all({ account_id })).filter(isProven);
      const hasKey = keys.some((key) => key.callbackid === callbackid);
      if (!hasKey || (await this.#find(account_id, code))) return this.#prove(account_id, event, callbackid, code);
      // Deliveries that were signed with it may be under way.
      const expires_at = timestamp(lastUseOf(this.#clock.now()));
      const late = this.#newCode(account_id, code);
      this.#codes.add.send({ ...late, callbackid, expires_at, state: 'previous', came_again: 0 });
      return 0;
    });
  }

  /** Retires the key of a callback that no longer exists: it stays valid for a day; its candidates are removed. */
  retire(account_id: string, callbackid: number): Promise<void> {
    return this.#database.write(() => this.#end(account_id, callbackid));
  }

  /**
   * Records a registration before it is sent. @returns the wall time in milliseconds since 1970 before which it may not be sent, because
   * there were several of this event at this address within a day; undefined where it may.
   */
  register(account_id: string, event: string, uri: string): Promise<number | undefined> {
    return this.#database.write(() => this.#awaited.register({ account_id, event, uri }, this.#clock.now()));
  }

  /** Records that the service did not make the last registration of this event. */
  withdraw(account_id: string, event: string): Promise<void> {
    return this.#database.write(() => this.#awaited.withdraw({ account_id, event }));
  }

  /** Registrations of before no longer count: a person wants them tried again. */
  forgetRegistrations(account_id: string): Promise<void> {
    return this.#database.write(() => this.#awaited.forgetRegistrations({ account_id }));
  }

  /** The orders of keys that were found, of all accounts, the newest first. */
  keyOrders(): Promise<KeyOrder[]> {
    return this.#database.readOne(async () =>
      (await this.#orders.newest.all({})).map(({ names }) => JSON.parse(names) as KeyOrder),
    );
  }

  /** Keeps an order of keys, and no more than the newest eight. On disk when this resolves. */
  keepKeyOrder(order: KeyOrder): Promise<void> {
    return this.#database.write(async () => {
      const names = JSON.stringify(order);
      // With a new id: it was found last.
      this.#orders.removeSame.send({ names });
      this.#orders.add.send({ names });
      for (const { id } of (await this.#orders.newest.all({})).slice(maxOrders)) this.#orders.remove.send({ id });
    }, shortLockWait);
  }

  async #prove(account_id: string, event: string, callbackid: number, code: Secret): Promise<number> {
    const others = async (): Promise<VerifierTable[]> =>
      (await this.#codes.ofAccount.all({ account_id })).filter(
        (row) => row.state === 'candidate' && !this.#isCode(row, code),
      );
    const before = (await others()).length;
    const right = (await this.#find(account_id, code)) ?? this.#newCode(account_id, code);
    await this.#end(account_id, callbackid);
    await this.#move(right, 'right', { callbackid, expires_at: null });
    this.#awaited.remove({ account_id, event });
    for (const row of await others())
      if (!(await this.#awaited.isAwaited(account_id, row.callbackid))) await this.#move(row, 'wrong');
    return before - (await others()).length;
  }

  /** The callback has another code, or no longer exists. Its candidates, and those that name no callback, are of no use then. */
  async #end(account_id: string, callbackid: number): Promise<void> {
    const now = this.#clock.now();
    for (const row of await this.#codes.expired.all({ now: timestamp(now) })) await this.#move(row, 'expired');
    for (const row of await this.#codes.ofAccount.all({ account_id })) {
      const isOurs = row.callbackid === callbackid || (row.callbackid === null && row.state === 'candidate');
      const expires_at = isProven(row) ? timestamp(lastUseOf(now)) : row.expires_at;
      if (isOurs) await this.#move(row, 'superseded', { expires_at });
    }
    this.#awaited.removeOfCallback(account_id, callbackid);
  }

  async #find(account_id: string, code: Secret): Promise<VerifierTable | undefined> {
    return (await this.#codes.ofAccount.all({ account_id })).find((row) => this.#isCode(row, code));
  }

  #newCode(account_id: string, code: Secret): NewCode {
    const verifier = this.#sealing.seal('verifier', account_id, code.reveal());
    return { account_id, verifier, received_at: timestamp(this.#clock.now()) };
  }

  #codeIn({ account_id, verifier }: VerifierTable): Secret {
    return new Secret(this.#sealing.open('verifier', account_id, verifier));
  }

  #isCode(row: VerifierTable, code: Secret): boolean {
    return isSame(this.#codeIn(row).reveal(), code.reveal());
  }

  /** Stores what becomes of a code. */
  async #move(row: NewCode | VerifierTable, evidence: CodeEvidence, changes: Partial<VerifierTable> = {}) {
    const stored = 'state' in row ? row : undefined;
    const code = nextCode(stored && codeOf(stored), evidence);
    if (!code) this.#codes.remove.send(row);
    else {
      const came_again = code.cameAgain ? 1 : 0;
      const next = { callbackid: null, expires_at: null, ...row, ...changes, state: code.state, came_again } as const;
      if ((await this.#codes.change.run(next)) === 0) this.#codes.add.send(next);
    }
  }
}

/** A code that is not stored, though it is sealed to be. */
type NewCode = Pick<VerifierTable, 'account_id' | 'verifier' | 'received_at'>;

function isProven({ state }: VerifierTable): boolean {
  return state === 'proven';
}

/** Whether two texts are the same; how long it takes says only whether they are equally long. */
function isSame(one: string, other: string): boolean {
  const [ours, theirs] = [Buffer.from(one), Buffer.from(other)];
  return ours.length === theirs.length && timingSafeEqual(ours, theirs);
}

/** The rows of codes, of which an account has few. A row is found by its code as it is stored, and only that way. */
function codeRows(db: Connection) {
  const changing = ['callbackid', 'state', 'received_at', 'expires_at', 'came_again'] as const;
  const codeColumns = sql`account_id, verifier, callbackid, state, received_at, expires_at, came_again`;
  return {
    /** The newest first. */
    ofAccount: statement(db)<{ account_id: string }, VerifierTable>`
      SELECT ${codeColumns} FROM verifiers WHERE account_id = ${'account_id'} ORDER BY received_at DESC, rowid DESC`,
    waiting: statement(db)<object, { account_id: string; newest: string }>`
      SELECT account_id, max(received_at) AS newest FROM verifiers
      WHERE state = 'candidate' OR came_again = 1 GROUP BY account_id`,
    expired: statement(db)<{ now: string }, VerifierTable>`
      SELECT ${codeColumns} FROM verifiers WHERE expires_at <= ${'now'}`,
    add: statement<VerifierTable>(db, (at) =>
      secretSql
        .insertInto('verifiers')
        .values({ ...columns(at, ['account_id', 'verifier']), ...columns(at, changing) }),
    ),
    change: statement<VerifierTable>(db, (at) =>
      secretSql
        .updateTable('verifiers')
        .set(columns(at, changing))
        .where('account_id', '=', at('account_id'))
        .where('verifier', '=', at('verifier')),
    ),
    remove: statement(db)<Pick<VerifierTable, 'account_id' | 'verifier'>>`
      DELETE FROM verifiers WHERE account_id = ${'account_id'} AND verifier = ${'verifier'}`,
  };
}

/** The rows of orders of keys. */
function orderRows(db: Connection) {
  return {
    newest: statement(db)<object, { id: number; names: string }>`SELECT id, names FROM key_orders ORDER BY id DESC`,
    add: statement<{ names: string }>(db, (at) => secretSql.insertInto('key_orders').values(columns(at, ['names']))),
    removeSame: statement(db)<{ names: string }>`DELETE FROM key_orders WHERE names = ${'names'}`,
    remove: statement(db)<{ id: number }>`DELETE FROM key_orders WHERE id = ${'id'}`,
  };
}

function codeOf(row: VerifierTable): Code {
  return { state: row.state, cameAgain: row.came_again === 1 };
}

/**
 * Verification codes that are awaited, so that unexpected codes are recognised; and recent registrations, so that an error cannot register
 * without end.
 */

interface OfEvent {
  account_id: string;
  event: string;
}

/** So many registrations within a day follow at once; before the next one is a wait, twice as long each time, in milliseconds. */
const registrationsAtOnce = 3;
const firstWait = 3_600_000;

/** Each method runs inside a transaction. */
class AwaitedCodes extends Operations {
  readonly #expect = statement<OfEvent & { callbackid: number | null; asked_at: string }>(this.db, (at) =>
    secretSql
      .insertInto('awaited_codes')
      .values(columns(at, ['account_id', 'event', 'callbackid', 'asked_at']))
      .onConflict((conflict) =>
        conflict.columns(['account_id', 'event']).doUpdateSet(columns(at, ['callbackid', 'asked_at'])),
      ),
  );
  readonly #awaited = statement(this.db)<{ account_id: string }, { callbackid: number | null }>`
    SELECT callbackid FROM awaited_codes WHERE account_id = ${'account_id'}`;
  readonly #arrived = statement(this.db)<OfEvent>`
    DELETE FROM awaited_codes WHERE account_id = ${'account_id'} AND event = ${'event'}`;
  readonly #gone = statement(this.db)<{ account_id: string; callbackid: number }>`
    DELETE FROM awaited_codes WHERE account_id = ${'account_id'} AND callbackid = ${'callbackid'}`;
  // Those of the future are of a clock that was set back since.
  readonly #forget = statement(this.db)<{ before: string; now: string }>`
    DELETE FROM registrations WHERE registered_at <= ${'before'} OR registered_at > ${'now'}`;
  readonly #registrations = statement(this.db)<OfEvent, { registered_at: string; uri: string | null }>`
    SELECT registered_at, uri FROM registrations
    WHERE account_id = ${'account_id'} AND event = ${'event'} ORDER BY registered_at`;
  readonly #register = statement<OfEvent & { registered_at: string; uri: string }>(this.db, (at) =>
    secretSql.insertInto('registrations').values(columns(at, ['account_id', 'event', 'registered_at', 'uri'])),
  );
  readonly #withdraw = statement(this.db)<OfEvent>`
    DELETE FROM registrations WHERE rowid = (
      SELECT max(rowid) FROM registrations WHERE account_id = ${'account_id'} AND event = ${'event'})`;
  readonly #forgetAll = statement(this.db)<{ account_id: string }>`
    DELETE FROM registrations WHERE account_id = ${'account_id'}`;
  readonly #sealing: Sealing;

  constructor(db: Connection, sealing: Sealing) {
    super(db);
    this.#sealing = sealing;
  }

  expect(of: OfEvent & { callbackid: number | null }, now: number): void {
    this.#expect.send({ ...of, asked_at: timestamp(now) });
  }

  /** Whether a code is awaited that may belong to this callback; null for a code that names none. */
  async isAwaited(account_id: string, callbackid: number | null): Promise<boolean> {
    return (await this.#awaited.all({ account_id })).some(
      (row) => row.callbackid === null || callbackid === null || row.callbackid === callbackid,
    );
  }

  /** Whether a code for exactly this callback is awaited. */
  async isAwaitedFor(account_id: string, callbackid: number): Promise<boolean> {
    return (await this.#awaited.all({ account_id })).some((row) => row.callbackid === callbackid);
  }

  remove(of: OfEvent): void {
    this.#arrived.send(of);
  }

  /** Removes the awaited code of a callback that no longer exists. */
  removeOfCallback(account_id: string, callbackid: number): void {
    this.#gone.send({ account_id, callbackid });
  }

  /** Records a registration, unless it has to wait. @returns until when. */
  async register(of: OfEvent & { uri: string }, now: number): Promise<number | undefined> {
    this.#forget.send({ before: timestamp(now - day), now: timestamp(now) });
    const { account_id, event } = of;
    // The address contains the path token, so it is a secret, and not searched for by its text.
    const opened = (uri: string): string => this.#sealing.open('callback address', account_id, uri);
    const before = (await this.#registrations.all({ account_id, event })).filter(
      ({ uri }) => uri !== null && isSame(opened(uri), of.uri),
    );
    const wait = firstWait * 2 ** (before.length - registrationsAtOnce);
    const until =
      (parseInstant(before.at(-1)?.registered_at ?? '') ?? -Infinity) +
      (before.length < registrationsAtOnce ? 0 : Math.min(day, wait));
    if (until > now) return until;
    const uri = this.#sealing.seal('callback address', account_id, of.uri);
    this.#register.send({ account_id, event, uri, registered_at: timestamp(now) });
    return undefined;
  }

  withdraw(of: OfEvent): void {
    this.#withdraw.send(of);
  }

  forgetRegistrations(of: { account_id: string }): void {
    this.#forgetAll.send(of);
  }
}

/**
 * The unguessable part of each account's callback address: 128 random bits. A rotation replaces it; until the callback at the new address is
 * verified and the others are deleted, the one before is kept.
 */
class PathTokens extends Operations {
  readonly #random: Random;
  readonly #sealing: Sealing;
  readonly #select = statement(this.db)<{ account_id: string }, { path_token: string; previous_token: string | null }>`
    SELECT path_token, previous_token FROM path_tokens WHERE account_id = ${'account_id'}`;
  readonly #add = statement<{ account_id: string; path_token: string }>(this.db, (at) =>
    secretSql.insertInto('path_tokens').values(columns(at, ['account_id', 'path_token'])),
  );
  readonly #rotations = statement(this.db)<object, { account_id: string; previous_token: string }>`
    SELECT account_id, previous_token FROM path_tokens WHERE previous_token IS NOT NULL`;
  // Both columns hold one kind of secret, so a token that is sealed opens in either.
  readonly #rotate = statement(this.db)<{ account_id: string; path_token: string }>`
    UPDATE path_tokens SET previous_token = path_token, path_token = ${'path_token'}
    WHERE account_id = ${'account_id'}`;
  readonly #end = statement(this.db)<{ account_id: string }>`
    UPDATE path_tokens SET previous_token = NULL WHERE account_id = ${'account_id'}`;

  constructor(db: Connection, random: Random, sealing: Sealing) {
    super(db);
    this.#random = random;
    this.#sealing = sealing;
  }

  async find(account_id: string): Promise<string | undefined> {
    const row = await this.#select.get({ account_id });
    return row && this.#opened(account_id, row.path_token);
  }

  /** The path token of an account, created where there is none. Runs inside a transaction. */
  async make(account_id: string): Promise<string> {
    const known = await this.find(account_id);
    if (known !== undefined) return known;
    const made = this.#made();
    this.#add.send({ account_id, path_token: this.#sealed(account_id, made) });
    return made;
  }

  /** The token that a rotation replaces; null where none is under way. */
  async before(account_id: string): Promise<string | null> {
    const { previous_token = null } = (await this.#select.get({ account_id })) ?? {};
    return previous_token === null ? null : this.#opened(account_id, previous_token);
  }

  async rotations(): Promise<{ account_id: string; previous_token: string }[]> {
    const rows = await this.#rotations.all({});
    return rows.map((row) => ({ ...row, previous_token: this.#opened(row.account_id, row.previous_token) }));
  }

  /** @returns whether no rotation was under way. Runs inside a transaction. */
  async rotate(account_id: string): Promise<boolean> {
    if ((await this.before(account_id)) !== null) return false;
    await this.make(account_id);
    this.#rotate.send({ account_id, path_token: this.#sealed(account_id, this.#made()) });
    return true;
  }

  /** Runs inside a transaction. */
  async endRotation(account_id: string, current: Secret): Promise<void> {
    const known = await this.find(account_id);
    if (known !== undefined && isSame(known, current.reveal())) this.#end.send({ account_id });
  }

  #sealed(account_id: string, token: string): string {
    return this.#sealing.seal('path token', account_id, token);
  }

  #opened(account_id: string, stored: string): string {
    return this.#sealing.open('path token', account_id, stored);
  }

  #made(): string {
    return Buffer.from(this.#random.bytes(16)).toString('base64url');
  }
}
