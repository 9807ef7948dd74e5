/** What is asked of a mirror in PostgreSQL before it is opened, or beside it, on a connection that ends at once. */
import { MirrorError } from '../../domain/errors.ts';
import type { KeptAccounts, PostgresStore } from '../../settings/parse.ts';
import type { AccountOfConnection } from '../../settings/shape.ts';
import { mirrorServer } from './server.ts';
import { PostgresSession } from './session.ts';

/** As `keptAccountsAt`. @throws MirrorError `postgres_failed`, `postgres_refused`: added accounts would otherwise look removed. */
export async function keptAccountsOn(store: PostgresStore): Promise<KeptAccounts> {
  const added = await ask<AccountOfConnection>(
    store,
    'SELECT account_id AS id, connection FROM _added_accounts ORDER BY account_id',
  );
  const paused = await ask<{ id: string }>(
    store,
    'SELECT account_id AS id FROM _accounts WHERE paused_since IS NOT NULL',
  );
  return { added, paused: new Set(paused.map(({ id }) => id)) };
}

/** As `knownConnectionsAt`. @throws MirrorError `postgres_failed`, `postgres_refused`. */
export function knownConnectionsOn(store: PostgresStore): Promise<AccountOfConnection[]> {
  return ask<AccountOfConnection>(store, 'SELECT account_id AS id, connection FROM _accounts ORDER BY account_id');
}

/** Whether the mirror has begun: its schema is there, and a run ever began, or it holds vendors. @throws MirrorError as `keptAccountsOn`. */
export async function isUsedOn(store: PostgresStore): Promise<boolean> {
  const rows = await ask<object>(
    store,
    'SELECT 1 FROM _reading_counter WHERE run_id > 0 OR EXISTS (SELECT 1 FROM vendors)',
  );
  return rows.length > 0;
}

/** Whether there is a mirror. @throws MirrorError as `keptAccountsOn`. */
export async function isMirrorOn(store: PostgresStore): Promise<boolean> {
  return (await ask<object>(store, 'SELECT 1 FROM mirror_identity')).length > 0;
}

/** No rows where there is no such table: opening the mirror says what is wrong with it. */
async function ask<Row extends object>(
  store: PostgresStore,
  statement: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const session = await PostgresSession.open(mirrorServer(store), new AbortController().signal);
  try {
    return await session.atomically(() => session.run<Row>(statement, values));
  } catch (error) {
    if (error instanceof MirrorError && error.code === 'postgres_tables') return [];
    throw error;
  } finally {
    session.close();
  }
}
