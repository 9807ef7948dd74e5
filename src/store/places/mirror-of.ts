/** What is asked of the mirror of these settings before it is opened, or beside it, wherever it is kept. */
import type { KeptAccounts, Settings } from '../../settings/parse.ts';
import { keptAccountsAt, knownConnection } from '../reports/known-accounts.ts';

type Kept = Pick<Settings, 'database' | 'postgres'>;

const onServer = () => import('../postgres/glimpse.ts');

/** The accounts that were added or paused by command. @throws MirrorError `database_locked`, `postgres_failed`, `postgres_refused`. */
export async function keptAccountsOf({ database, postgres }: Kept): Promise<KeptAccounts> {
  return postgres ? (await onServer()).keptAccountsOn(postgres) : keptAccountsAt(database);
}

/** The connection that last gave access to an account; undefined where that is unknown. @throws MirrorError as `keptAccountsOf`. */
export async function knownConnectionOf({ database, postgres }: Kept, accountId: string): Promise<string | undefined> {
  return postgres ? (await onServer()).knownConnectionOn(postgres, accountId) : knownConnection(database, accountId);
}
