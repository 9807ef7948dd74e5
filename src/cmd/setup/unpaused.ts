/** Which accounts are left for a command that reads whole lists: none that a person paused. */
import { MirrorError } from '../../domain/errors.ts';
import type { Settings } from '../../settings/parse.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { printNotice } from '../terminal/print.ts';

/** The settings without the accounts that are paused, which a notice names. @throws MirrorError `usage` where `--account` names such a one. */
export function withoutPaused(context: ProcessContext, settings: Settings): Settings {
  const { accounts, paused, isRestricted } = settings;
  const left = accounts.filter((account) => paused.has(account));
  const [first] = left;
  if (first === undefined) return settings;
  if (isRestricted)
    throw new MirrorError('usage', `${first} is paused: \`vendor-mirror accounts resume ${first}\` resumes it.`);
  printNotice(context, `Skipped because they are paused: ${left.join(', ')}.`);
  return { ...settings, accounts: accounts.filter((account) => !paused.has(account)) };
}
