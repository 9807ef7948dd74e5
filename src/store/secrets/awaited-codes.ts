/**
 * Verification codes that are awaited, so that unexpected codes are recognised; and recent registrations, so that an error cannot register
 * without end.
 */
import { timestamp } from '../../domain/clock.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import type { Statement } from '../sqlite/plain-statement.ts';
import { secretSql, statement } from '../sqlite/statement.ts';

interface OfEvent {
  account_id: string;
  event: string;
}

const day = 86_400_000;
const registrationsADay = 3;

/** Each method runs inside a transaction. */
export class AwaitedCodes {
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
