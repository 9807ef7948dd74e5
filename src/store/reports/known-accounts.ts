/** Accounts that a mirror holds, whether or not the settings still name them. */
import { existsSync } from 'node:fs';
import { connectReader, type Sqlite } from '../sqlite/driver.ts';
import { plainStatement } from '../sqlite/plain-statement.ts';

/** Whether the mirror at that path holds the account; makes no file. A file that cannot be read holds none. */
export function knowsAccount(path: string, accountId: string): boolean {
  if (!existsSync(path)) return false;
  let sqlite: Sqlite | undefined;
  try {
    sqlite = connectReader(path);
    const known = plainStatement<{ accountId: string }>(sqlite, 'SELECT 1 FROM accounts WHERE account_id = :accountId');
    return known.get({ accountId }) !== undefined;
  } catch {
    return false;
  } finally {
    sqlite?.close();
  }
}
