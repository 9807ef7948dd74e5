/** `secrets export FILE`: a backup of the secrets that only a passphrase opens. */
import { exitStatus } from '../../domain/errors.ts';
import { exportSecrets } from '../../store/sealed-secrets/export-secrets.ts';
import type { CommandHandler } from '../process/command.ts';
import { settingsOfFile } from '../setup/load-settings.ts';
import { counted } from '../terminal/counted.ts';
import { printJson, printNotice } from '../terminal/print.ts';
import { newPassphrase, type PassphraseOptions } from './passphrase.ts';

export const secretsExport: CommandHandler<PassphraseOptions> = async (call) => {
  const { context, options } = call;
  const [file = ''] = call.args;
  const settings = settingsOfFile(call);
  const passphrase = await newPassphrase(context, options);
  const { random, sealingCost: cost } = context;
  const counts = await exportSecrets(file, { passphrase, random, cost, own: settings });
  if (options.json) printJson(context, { ok: counts !== undefined, file: counts ? file : null, ...counts });
  if (!counts) {
    printNotice(context, `${settings.secrets} does not exist: there are no secrets yet. Run \`vendor-mirror serve\`.`);
    return exitStatus.incomplete;
  }
  if (options.json) return exitStatus.done;
  const { accounts, grants } = counts;
  printNotice(
    context,
    `${file} is written, with the callback addresses of ${counted(accounts, 'account')} and ${counted(grants, 'grant')} of \`vendor-mirror login\`. Nobody can read it without its passphrase, not even you.`,
  );
  if (grants > 0)
    printNotice(
      context,
      'A login in it works only until this installation renews its tokens; after that, log in again where it is imported.',
    );
  return exitStatus.done;
};
