/** Requests of an account that failed one after the other, until the next one is answered. */
import { timestamp, type Clock } from '../../domain/clock.ts';
import type { MirrorError } from '../../domain/errors.ts';
import type { Database } from '../sqlite/database.ts';
import { plainStatement } from '../sqlite/plain-statement.ts';

export interface RequestFailures {
  /** Writes down how the last of so many further requests of an account failed, whose message must hold no secret. */
  add(accountId: string, requests: number, last: Pick<MirrorError, 'code' | 'message'>): Promise<void>;
  /** A request of the account was answered. */
  forget(accountId: string): Promise<void>;
}

export function requestFailures(database: Database, clock: Pick<Clock, 'now'>): RequestFailures {
  const { sqlite } = database;
  const any = plainStatement<{ accountId: string }>(
    sqlite,
    'SELECT 1 FROM _request_failures WHERE account_id = :accountId',
  );
  const forget = plainStatement<{ accountId: string }>(
    sqlite,
    'DELETE FROM _request_failures WHERE account_id = :accountId',
  );
  const add = plainStatement<{ accountId: string; requests: number; now: string; code: string; message: string }>(
    sqlite,
    `
    INSERT INTO _request_failures (account_id, requests, first_at, last_at, code, message)
    VALUES (:accountId, :requests, :now, :now, :code, :message)
    ON CONFLICT (account_id) DO UPDATE SET requests = requests + excluded.requests, last_at = excluded.last_at,
      code = excluded.code, message = excluded.message`,
  );
  return {
    add: (accountId, requests, { code, message }) =>
      database.writeInOrder(() => {
        add.run({ accountId, requests, now: timestamp(clock.now()), code, message });
      }),
    async forget(accountId) {
      if ((await database.read(() => any.get({ accountId }))) === undefined) return;
      await database.writeInOrder(() => {
        forget.run({ accountId });
      });
    },
  };
}
