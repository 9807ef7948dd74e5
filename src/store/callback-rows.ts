/** The callbacks that this installation registered, as the service last showed them; without their path token. */
import { timestamp } from '../clock.ts';
import type { Callback } from '../vendor.ts';
import type { Sqlite } from './driver.ts';
import { mirrorSql, statement } from './statement.ts';
import type { CallbackTable } from './tables.ts';

export interface CallbackRows {
  known(accountId: string): Callback[];
  /** Makes these the known ones. Runs inside a transaction. */
  replace(accountId: string, callbacks: readonly Callback[], now: number): void;
}

export function callbackRows(sqlite: Sqlite): CallbackRows {
  const known = statement<{ account_id: string }, Omit<CallbackTable, 'account_id' | 'checked_at'>>(sqlite, (at) =>
    mirrorSql
      .selectFrom('callbacks')
      .select(['callbackid', 'event', 'uri', 'verified'])
      .where('account_id', '=', at.account_id)
      .orderBy('callbackid'),
  );
  const clear = statement<{ account_id: string }>(sqlite, (at) =>
    mirrorSql.deleteFrom('callbacks').where('account_id', '=', at.account_id),
  );
  const insert = statement<CallbackTable>(sqlite, (at) =>
    mirrorSql.insertInto('callbacks').values({
      account_id: at.account_id,
      callbackid: at.callbackid,
      event: at.event,
      uri: at.uri,
      verified: at.verified,
      checked_at: at.checked_at,
    }),
  );
  return {
    known: (accountId) => known.all({ account_id: accountId }).map((row) => ({ ...row, verified: row.verified === 1 })),
    replace(accountId, callbacks, now) {
      clear.run({ account_id: accountId });
      for (const { callbackid, event, uri, verified } of callbacks)
        insert.run({
          account_id: accountId,
          callbackid,
          event,
          uri,
          verified: verified ? 1 : 0,
          checked_at: timestamp(now),
        });
    },
  };
}
