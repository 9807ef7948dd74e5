/** `secrets export FILE`: a backup of the secrets that only a passphrase opens. */
import { exitStatus } from '../../domain/errors.ts';
import { exportSecrets } from '../../store/sealed-secrets/write-sealed.ts';
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
  const counts = await exportSecrets(file, { passphrase, random: context.random, own: settings });
  if (options.json) printJson(context, { ok: counts !== undefined, file: counts ? file : null, ...counts });
  if (!counts) {
    printNotice(context, `${settings.secrets} is not there: there are no secrets yet. Run \`vendor-mirror serve\`.`);
    return exitStatus.notWhole;
  }
  if (options.json) return exitStatus.done;
  const { accounts, grants } = counts;
  printNotice(
    context,
    `${file} is written, with the callback addresses of ${counted(accounts, 'account')} and ${counted(grants, 'grant')} of \`vendor-mirror login\`. Without its passphrase nobody can read it, you neither.`,
  );
  if (grants > 0)
    printNotice(
      context,
      'A grant in it is good until this installation renews its tokens; after that, log in anew where it is imported.',
    );
  return exitStatus.done;
};
