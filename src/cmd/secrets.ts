/**
 * `secrets export` and `import`: a backup that only a passphrase opens. The passphrase comes from a file or a person, never from the
 * command line, which other users of the machine can see.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { exitStatus, MirrorError } from '../domain/errors.ts';
import { isWeak, Secret } from '../domain/secret.ts';
import { counted } from '../domain/size.ts';
import { readSealedFile, readSecretFile, reasonOf } from '../settings/file.ts';
import type { Settings } from '../settings/parse.ts';
import { readableByAll } from '../settings/permissions.ts';
import { exportSecrets, importSecrets } from '../store/secrets/sealed-backup.ts';
import { settingsOfFile } from './load-settings.ts';
import { openFile } from './doctor-checkup.ts';
import type { CommandHandler } from './process/command.ts';
import type { ProcessContext } from './process/process-context.ts';
import { printJson, printNotice, printText } from './terminal/print.ts';
import { isConfirmed, isInteractive, prompt } from './terminal/prompt.ts';

export const secretsExport: CommandHandler<PassphraseOptions> = async (call) => {
  const { context, options } = call;
  const [file = ''] = call.args;
  const settings = inFile(settingsOfFile(call));
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

export const secretsImport: CommandHandler<PassphraseOptions & { readonly yes?: boolean }> = async (call) => {
  const { context, options } = call;
  const [file = ''] = call.args;
  const { secrets, database } = inFile(settingsOfFile(call));
  const text = readText(file);
  const question = `${secrets} exists. If it is replaced, its callbacks and the tokens of \`login\` are lost. Replace it?`;
  if (existsSync(secrets) && !(await isConfirmed(context, question, options.yes))) {
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

/** @throws MirrorError `usage` where the secrets are in PostgreSQL. */
function inFile(settings: Settings): Settings {
  if (settings.postgres)
    throw new MirrorError(
      'usage',
      'The secrets are in PostgreSQL, sealed: back them up with `pg_dump`, and keep the file of `secretsKeyFile` apart from it.',
    );
  return settings;
}

function readText(file: string): string {
  try {
    return readSealedFile(file);
  } catch (error) {
    throw new MirrorError('usage', `${file} cannot be read: ${reasonOf(error)}.`, { cause: error });
  }
}

interface PassphraseOptions {
  readonly passphraseFile?: string;
}

/** Shorter passphrases are quickly guessed with the file at hand. */
const fewestCharacters = 12;

/** A passphrase for a new backup; a person types it twice. @throws MirrorError `usage` where it is too short, or the two differ. */
export async function newPassphrase(context: ProcessContext, options: PassphraseOptions): Promise<Secret> {
  const passphrase = await knownPassphrase(context, options);
  if (isWeak(passphrase.reveal(), fewestCharacters))
    throw new MirrorError(
      'usage',
      `The passphrase must have at least ${fewestCharacters} characters, six of them different, without repetitions and sequences; blanks do not count.`,
    );
  if (options.passphraseFile === undefined) {
    const again = await prompt(context, 'Repeat the passphrase:', { hidden: true });
    if (again !== passphrase.reveal()) throw new MirrorError('usage', 'The two passphrases differ.');
  }
  return passphrase;
}

/** The passphrase of a backup. @throws MirrorError `usage` if there is none, and no terminal to ask on. */
export async function knownPassphrase(context: ProcessContext, { passphraseFile }: PassphraseOptions): Promise<Secret> {
  if (passphraseFile !== undefined) {
    if (readableByAll(passphraseFile)) {
      const { message, remedy } = openFile(passphraseFile);
      printNotice(context, `${message} ${remedy ?? ''}`);
    }
    return fromFile(passphraseFile);
  }
  if (!isInteractive(context))
    throw new MirrorError('usage', 'There is no terminal to ask for the passphrase: use --passphrase-file FILE.');
  return notEmpty(await prompt(context, 'Passphrase:', { hidden: true }));
}

/** The end of its line is not part of it. */
function fromFile(path: string): Secret {
  let text: string;
  try {
    text = readSecretFile(path);
  } catch (error) {
    throw new MirrorError('usage', `The passphrase file ${path} cannot be read: ${reasonOf(error)}.`, { cause: error });
  }
  return notEmpty(text.replace(/\r?\n$/, ''));
}

function notEmpty(text: string): Secret {
  if (text === '') throw new MirrorError('usage', 'The passphrase is empty.');
  return new Secret(text);
}
