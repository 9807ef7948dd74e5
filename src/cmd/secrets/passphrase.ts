/** The passphrase of a backup: from a file or a person, never from the command line, which other users of the machine can see. */
import { MirrorError } from '../../domain/errors.ts';
import { Secret } from '../../domain/secret.ts';
import { readSecretFile, reasonOf } from '../../settings/file.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { isInteractive, prompt } from '../terminal/prompt.ts';

export interface PassphraseOptions {
  readonly passphraseFile?: string;
}

/** Shorter passphrases are quickly guessed with the file at hand. */
const fewestCharacters = 12;

/** A passphrase for a new backup; a person types it twice. @throws MirrorError `usage` where it is too short, or the two differ. */
export async function newPassphrase(context: ProcessContext, options: PassphraseOptions): Promise<Secret> {
  const passphrase = await knownPassphrase(context, options);
  if (passphrase.reveal().length < fewestCharacters)
    throw new MirrorError('usage', `The passphrase must have at least ${fewestCharacters} characters.`);
  if (options.passphraseFile === undefined) {
    const again = await prompt(context, 'Repeat the passphrase:', { hidden: true });
    if (again !== passphrase.reveal()) throw new MirrorError('usage', 'The two passphrases differ.');
  }
  return passphrase;
}

/** The passphrase of a backup. @throws MirrorError `usage` if there is none, and no terminal to ask on. */
export async function knownPassphrase(context: ProcessContext, { passphraseFile }: PassphraseOptions): Promise<Secret> {
  if (passphraseFile !== undefined) return fromFile(passphraseFile);
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
