/**
 * Our callbacks as the service last showed them, without their path tokens; those that lead here and that other secrets registered; and refused
 * registrations.
 */
import { timestamp } from '../domain/clock.ts';
import type { Callback } from '../domain/vendor.ts';
import { Transacted } from './sql/database.ts';
import type { CallbackTable, RegistrationRefusalTable, UnknownCallbackTable } from './sql/schema.ts';
import { columns, mirrorSql, statement } from './sql/statement.ts';

/** A refused registration: its event, the error that refused it, how often since when, and when it is tried again. */
export type RegistrationRefusal = Omit<RegistrationRefusalTable, 'account_id'>;

type Shown = Omit<CallbackTable, 'account_id'>;

/** A check that finds nothing new is recorded once in this time, in milliseconds: thousands of accounts are checked with each sweep. */
const checkNoted = 3_600_000;

/** Whether the callbacks are stored as they were shown, by a recent check. */
function isNoted(known: readonly Shown[], shown: readonly Omit<Shown, 'checked_at'>[], now: number): boolean {
  const [since, until] = [timestamp(now - checkNoted), timestamp(now)];
  const here = new Map(known.map((callback) => [callback.callbackid, callback]));
  return (
    known.length === shown.length &&
    shown.every(({ callbackid, event, uri, verified }) => {
      const old = here.get(callbackid);
      const isAlike = old?.event === event && old.uri === uri && old.verified === verified;
      return isAlike && old.checked_at > since && old.checked_at <= until;
    })
  );
}

const ofRefusal = ['refused_at', 'code', 'message', 'remedy', 'uri', 'attempts', 'retry_at'] as const;

export class Callbacks extends Transacted {
  readonly #known = statement(this.db)<{ account_id: string }, Shown>`
    SELECT callbackid, event, uri, verified, checked_at FROM callbacks
    WHERE account_id = ${'account_id'} ORDER BY callbackid`;
  readonly #clear = statement(this.db)<{ account_id: string }>`
    DELETE FROM callbacks WHERE account_id = ${'account_id'}`;
  readonly #insert = statement<CallbackTable>(this.db, (at) =>
    mirrorSql
      .insertInto('callbacks')
      .values(columns(at, ['account_id', 'callbackid', 'event', 'uri', 'verified', 'checked_at'])),
  );
  readonly #leftBehind = statement(this.db)<object, { account_id: string; callbackid: number }>`
    SELECT account_id, callbackid FROM callbacks JOIN _accounts USING (account_id)
    WHERE not_served_since IS NOT NULL ORDER BY account_id, callbackid`;
  readonly #unverify = statement(this.db)<{ account_id: string; callbackid: number }>`
    UPDATE callbacks SET verified = '0'
    WHERE account_id = ${'account_id'} AND callbackid = ${'callbackid'}`;
  readonly #refused = statement(this.db)<{ account_id: string }, RegistrationRefusal>`
    SELECT event, refused_at, code, message, remedy, uri, attempts, retry_at FROM _registration_refusals
    WHERE account_id = ${'account_id'} ORDER BY event`;
  readonly #forgive = statement(this.db)<{ account_id: string; event: string }>`
    DELETE FROM _registration_refusals WHERE account_id = ${'account_id'} AND event = ${'event'}`;
  readonly #refuse = statement<RegistrationRefusalTable>(this.db, (at) =>
    mirrorSql
      .insertInto('_registration_refusals')
      .values({ ...columns(at, ['account_id', 'event']), ...columns(at, ofRefusal) })
      .onConflict((conflict) => conflict.columns(['account_id', 'event']).doUpdateSet(columns(at, ofRefusal))),
  );
  readonly #prove = statement(this.db)<{ account_id: string; at: string }>`
    UPDATE _accounts SET callback_proven_at = ${'at'} WHERE account_id = ${'account_id'}`;
  readonly #endWaits = statement(this.db)<{ account_id: string }>`
    UPDATE _registration_refusals SET retry_at = NULL WHERE account_id = ${'account_id'}`;
  readonly #unknown = statement(this.db)<{ account_id: string }, Pick<UnknownCallbackTable, 'callbackid'>>`
    SELECT callbackid FROM _unknown_callbacks WHERE account_id = ${'account_id'}`;
  readonly #notice = statement<UnknownCallbackTable>(this.db, (at) =>
    mirrorSql.insertInto('_unknown_callbacks').values(columns(at, ['account_id', 'callbackid', 'found_at'])),
  );
  readonly #dismiss = statement(this.db)<{ account_id: string; callbackid: number }>`
    DELETE FROM _unknown_callbacks
    WHERE account_id = ${'account_id'} AND callbackid = ${'callbackid'}`;

  /** Our callbacks, without their path tokens, as the service last showed them. */
  knownCallbacks(account_id: string): Promise<Callback[]> {
    return this.database.read(async () =>
      (await this.#known.all({ account_id })).map(({ callbackid, event, uri, verified }) => ({
        callbackid,
        event,
        uri,
        verified: verified === 1,
      })),
    );
  }

  replaceCallbacks(account_id: string, callbacks: readonly Callback[]): Promise<void> {
    const now = this.clock.now();
    return this.database.write(async () => {
      const shown = callbacks.map(({ callbackid, event, uri, verified }) => ({
        callbackid,
        event,
        uri,
        verified: verified ? 1 : 0,
      }));
      if (isNoted(await this.#known.all({ account_id }), shown, now)) return;
      this.#clear.send({ account_id });
      for (const callback of shown) this.#insert.send({ account_id, ...callback, checked_at: timestamp(now) });
    });
  }

  /** Records which callbacks lead here that other secrets registered. @returns those that were not recorded before. */
  replaceUnknown(account_id: string, callbackids: readonly number[]): Promise<number[]> {
    return this.database.write(async () => {
      const known = (await this.#unknown.all({ account_id })).map(({ callbackid }) => callbackid);
      for (const callbackid of known)
        if (!callbackids.includes(callbackid)) this.#dismiss.send({ account_id, callbackid });
      const found = callbackids.filter((callbackid) => !known.includes(callbackid));
      const found_at = timestamp(this.clock.now());
      for (const callbackid of found) this.#notice.send({ account_id, callbackid, found_at });
      return found;
    });
  }

  /** One of them was deleted. */
  forgetUnknown(account_id: string, callbackid: number): Promise<void> {
    return this.database.write(() => this.#dismiss.send({ account_id, callbackid }));
  }

  /** Sets the callbacks of accounts that are no longer served to unverified, because their deliveries are not received. @returns them. */
  unverifyUnservedCallbacks(): Promise<{ readonly accountId: string; readonly callbackid: number }[]> {
    return this.database.write(async () => {
      const left = await this.#leftBehind.all({});
      for (const { account_id, callbackid } of left) this.#unverify.send({ account_id, callbackid });
      return left.map(({ account_id, callbackid }) => ({ accountId: account_id, callbackid }));
    });
  }

  refusals(account_id: string): Promise<RegistrationRefusal[]> {
    return this.database.read(() => this.#refused.all({ account_id }));
  }

  replaceRefusals(account_id: string, refusals: readonly RegistrationRefusal[]): Promise<void> {
    return this.database.write(async () => {
      const events = new Set(refusals.map(({ event }) => event));
      for (const { event } of await this.#refused.all({ account_id }))
        if (!events.has(event)) this.#forgive.send({ account_id, event });
      for (const refusal of refusals) this.#refuse.send({ account_id, ...refusal });
    });
  }

  /** A callback for vendors has just been verified: what the service sends arrives. */
  proven(account_id: string): Promise<void> {
    return this.database.write(() => this.#prove.send({ account_id, at: timestamp(this.clock.now()) }));
  }

  /** What was refused is tried again with the next check. */
  endWaits(account_id: string): Promise<void> {
    return this.database.write(() => this.#endWaits.send({ account_id }));
  }
}
