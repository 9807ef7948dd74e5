/** The account of a command that works on one alone. */
import type { Settings } from '../config.ts';
import { MirrorError } from '../errors.ts';

/** @throws MirrorError `usage` where the settings name several and `--account` none of them. */
export function oneAccount({ accounts }: Settings): string {
  const [account, ...others] = accounts;
  if (account !== undefined && others.length === 0) return account;
  throw new MirrorError('usage', `The settings name several accounts (${accounts.join(', ')}): say --account ID.`);
}
