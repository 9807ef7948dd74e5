/** What was asked of the service and makes it send a code: so that a code that we wait for is told from any other, and no fault asks without end. */
import { timestamp } from '../../domain/clock.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import { secretSql, statement } from '../sqlite/statement.ts';

interface OfEvent {
  account_id: string;
  event: string;
}

/** Each runs inside a transaction. */
export interface AwaitedCodes {
  expect(awaited: OfEvent & { callbackid: number | null }, now: number): void;
  /** Whether a code that names this callback, or none, is awaited. */
  has(accountId: string, callbackid: number | null): boolean;
  /** Whether a code was asked for that names this very callback. */
  names(accountId: string, callbackid: number): boolean;
  arrived(of: OfEvent): void;
  /** The callback is no more. */
  gone(accountId: string, callbackid: number): void;
  /** Writes down one more registration; false where there were too many of this event within a day. */
  register(of: OfEvent, now: number): boolean;
}

const day = 86_400_000;
const registrationsADay = 3;

export function awaitedCodes(sqlite: Sqlite): AwaitedCodes {
  const expect = statement<OfEvent & { callbackid: number | null; asked_at: string }>(sqlite, (at) =>
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
  const awaited = statement<{ account_id: string }, { callbackid: number | null }>(sqlite, (at) =>
    secretSql.selectFrom('awaited_codes').select('callbackid').where('account_id', '=', at('account_id')),
  );
  const arrived = statement<OfEvent>(sqlite, (at) =>
    secretSql.deleteFrom('awaited_codes').where('account_id', '=', at('account_id')).where('event', '=', at('event')),
  );
  const gone = statement<{ account_id: string; callbackid: number }>(sqlite, (at) =>
    secretSql
      .deleteFrom('awaited_codes')
      .where('account_id', '=', at('account_id'))
      .where('callbackid', '=', at('callbackid')),
  );
  const forget = statement<{ before: string }>(sqlite, (at) =>
    secretSql.deleteFrom('registrations').where('registered_at', '<=', at('before')),
  );
  const count = statement<OfEvent, { registrations: number }>(sqlite, (at) =>
    secretSql
      .selectFrom('registrations')
      .select((row) => row.fn.countAll<number>().as('registrations'))
      .where('account_id', '=', at('account_id'))
      .where('event', '=', at('event')),
  );
  const register = statement<OfEvent & { registered_at: string }>(sqlite, (at) =>
    secretSql
      .insertInto('registrations')
      .values({ account_id: at('account_id'), event: at('event'), registered_at: at('registered_at') }),
  );
  return {
    expect: (of, now) => void expect.run({ ...of, asked_at: timestamp(now) }),
    has: (account_id, callbackid) =>
      awaited
        .all({ account_id })
        .some((row) => row.callbackid === null || callbackid === null || row.callbackid === callbackid),
    names: (account_id, callbackid) => awaited.all({ account_id }).some((row) => row.callbackid === callbackid),
    arrived: (of) => void arrived.run(of),
    gone: (account_id, callbackid) => void gone.run({ account_id, callbackid }),
    register(of, now) {
      forget.run({ before: timestamp(now - day) });
      if ((count.get(of)?.registrations ?? 0) >= registrationsADay) return false;
      register.run({ ...of, registered_at: timestamp(now) });
      return true;
    },
  };
}
