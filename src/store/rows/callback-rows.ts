/** The callbacks that this installation registered, as the service last showed them, without their path token; and those it refused. */
import { timestamp, type Clock } from '../../domain/clock.ts';
import type { Callback } from '../../domain/vendor.ts';
import type { Database } from '../sqlite/database.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';
import type { CallbackTable } from '../tables/mirror-tables.ts';
import type { RegistrationRefusalTable } from '../tables/webhook-tables.ts';
import type { RegistrationRefusal } from '../records/refusal-record.ts';

export interface CallbackTransactions {
  /** The callbacks of ours, without their path tokens, as the service last showed them. */
  knownCallbacks(accountId: string): Promise<Callback[]>;
  replaceCallbacks(accountId: string, callbacks: readonly Callback[]): Promise<void>;
  /** The callbacks of accounts that are served no more are verified no more: nobody receives what they send. @returns what they are. */
  abandonCallbacks(): Promise<{ readonly accountId: string; readonly callbackid: number }[]>;
  refusals(accountId: string): Promise<RegistrationRefusal[]>;
  /** Events that could not be registered, all that there are. */
  replaceRefusals(accountId: string, refusals: readonly RegistrationRefusal[]): Promise<void>;
}

export function callbackTransactions(database: Database, clock: Clock): CallbackTransactions {
  const { sqlite } = database;
  const known = statement<{ account_id: string }, Omit<CallbackTable, 'account_id' | 'checked_at'>>(sqlite, (at) =>
    mirrorSql
      .selectFrom('callbacks')
      .select(['callbackid', 'event', 'uri', 'verified'])
      .where('account_id', '=', at('account_id'))
      .orderBy('callbackid'),
  );
  const clear = statement<{ account_id: string }>(sqlite, (at) =>
    mirrorSql.deleteFrom('callbacks').where('account_id', '=', at('account_id')),
  );
  const insert = statement<CallbackTable>(sqlite, (at) =>
    mirrorSql.insertInto('callbacks').values({
      account_id: at('account_id'),
      callbackid: at('callbackid'),
      event: at('event'),
      uri: at('uri'),
      verified: at('verified'),
      checked_at: at('checked_at'),
    }),
  );
  const leftBehind = statement<object, { account_id: string; callbackid: number }>(sqlite, () =>
    mirrorSql
      .selectFrom('callbacks')
      .innerJoin('accounts', 'accounts.account_id', 'callbacks.account_id')
      .select(['callbacks.account_id', 'callbackid'])
      .where('not_served_since', 'is not', null)
      .orderBy('callbacks.account_id')
      .orderBy('callbackid'),
  );
  const unverify = statement<{ account_id: string; callbackid: number }>(sqlite, (at) =>
    mirrorSql
      .updateTable('callbacks')
      .set({ verified: 0 })
      .where('account_id', '=', at('account_id'))
      .where('callbackid', '=', at('callbackid')),
  );
  const refused = statement<{ account_id: string }, RegistrationRefusal>(sqlite, (at) =>
    mirrorSql
      .selectFrom('_registration_refusals')
      .select(['event', 'code', 'message'])
      .where('account_id', '=', at('account_id')),
  );
  const forgive = statement<{ account_id: string; event: string }>(sqlite, (at) =>
    mirrorSql
      .deleteFrom('_registration_refusals')
      .where('account_id', '=', at('account_id'))
      .where('event', '=', at('event')),
  );
  const refuse = statement<RegistrationRefusalTable>(sqlite, (at) =>
    mirrorSql
      .insertInto('_registration_refusals')
      .values({
        account_id: at('account_id'),
        event: at('event'),
        refused_at: at('refused_at'),
        code: at('code'),
        message: at('message'),
      })
      .onConflict((conflict) =>
        conflict.columns(['account_id', 'event']).doUpdateSet({ code: at('code'), message: at('message') }),
      ),
  );
  return {
    knownCallbacks: (account_id) =>
      database.read(() => known.all({ account_id }).map((row) => ({ ...row, verified: row.verified === 1 }))),
    replaceCallbacks: (account_id, callbacks) =>
      database.write(() => {
        clear.run({ account_id });
        const checked_at = timestamp(clock.now());
        for (const { callbackid, event, uri, verified } of callbacks)
          insert.run({ account_id, callbackid, event, uri, verified: verified ? 1 : 0, checked_at });
      }),
    abandonCallbacks: () =>
      database.write(() => {
        const left = leftBehind.all({});
        for (const { account_id, callbackid } of left) unverify.run({ account_id, callbackid });
        return left.map(({ account_id, callbackid }) => ({ accountId: account_id, callbackid }));
      }),
    refusals: (account_id) => database.read(() => refused.all({ account_id })),
    replaceRefusals: (account_id, refusals) =>
      database.write(() => {
        const events = new Set(refusals.map(({ event }) => event));
        for (const { event } of refused.all({ account_id })) if (!events.has(event)) forgive.run({ account_id, event });
        const refused_at = timestamp(clock.now());
        for (const { event, code, message } of refusals) refuse.run({ account_id, event, refused_at, code, message });
      }),
  };
}
