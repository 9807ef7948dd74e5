/** `secrets import FILE`: the secrets of a backup, in their place. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { exitStatus, MirrorError } from '../../domain/errors.ts';
import { readSealedFile, reasonOf } from '../../settings/file.ts';
import { importSecrets } from '../../store/sealed-secrets/import-secrets.ts';
import type { CommandHandler } from '../process/command.ts';
import { settingsOfFile } from '../setup/load-settings.ts';
import { counted } from '../terminal/counted.ts';
import { printText, printJson, printNotice } from '../terminal/print.ts';
import { isConfirmed } from '../terminal/prompt.ts';
import { knownPassphrase, type PassphraseOptions } from './passphrase.ts';

interface ImportOptions extends PassphraseOptions {
  readonly yes?: boolean;
}

export const secretsImport: CommandHandler<ImportOptions> = async (call) => {
  const { context, options } = call;
  const [file = ''] = call.args;
  const { secrets, database } = settingsOfFile(call);
  const text = readText(file);
  const question = `${secrets} exists. If it is replaced, its callbacks and the tokens of \`login\` are lost. Replace it?`;
  if (existsSync(secrets) && !(await isConfirmed(context, () => Promise.resolve(question), options.yes))) {
    printNotice(context, 'Nothing was done.');
    return exitStatus.incomplete;
  }
  const passphrase = await knownPassphrase(context, options);
  const { clock, random, packageRoot } = context;
  const target = { path: secrets, migrations: join(packageRoot, 'migrations'), clock, random };
  const counts = await importSecrets({ name: file, text }, passphrase, target, database);
  if (options.json) printJson(context, { ok: true, secrets, ...counts });
  else {
    const { accounts, grants } = counts;
    const what = `the callback addresses of ${counted(accounts, 'account')} and ${counted(grants, 'grant')} of \`login\``;
    printText(context, `${secrets} holds ${what}.`);
    printNotice(
      context,
      existsSync(database)
        ? 'Stop the installation that they come from before you run `vendor-mirror serve` here.'
        : `Put the copy of the mirror at ${database}, stop the installation that they come from, and run \`vendor-mirror serve\`.`,
    );
  }
  return exitStatus.done;
};

function readText(file: string): string {
  try {
    return readSealedFile(file);
  } catch (error) {
    throw new MirrorError('usage', `${file} cannot be read: ${reasonOf(error)}.`, { cause: error });
  }
}
