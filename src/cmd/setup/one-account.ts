/** The account of a command that works on one alone. */
import type { Settings } from '../../settings/parse.ts';
import { MirrorError } from '../../domain/errors.ts';

/** @throws MirrorError `usage` where the settings name several and `--account` none of them. */
export function oneAccount({ accounts }: Settings): string {
  const [account, ...others] = accounts;
  if (account !== undefined && others.length === 0) return account;
  throw new MirrorError(
    'usage',
    `The settings name several accounts (${accounts.join(', ')}): choose one with --account ID.`,
  );
}
