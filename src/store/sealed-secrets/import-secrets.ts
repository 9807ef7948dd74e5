/** Imports the secrets file from an encrypted export. */
import { mkdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { asMirrorError, MirrorError } from '../../domain/errors.ts';
import type { Secret } from '../../domain/secret.ts';
import { withMessage } from '../../domain/with-message.ts';
import { readBack, withoutCompanions } from '../files/copy-state.ts';
import { rename, writePrivately } from '../files/durable.ts';
import { resolvedPath } from '../files/own-files.ts';
import { takeSideLock } from '../files/side-lock.ts';
import { openSecrets, type SecretsFile } from '../secrets/secrets.ts';
import { unseal } from './seal.ts';
import { countSecrets, type SecretCounts } from './export-secrets.ts';

/** An export that was read. */
export interface SealedFile {
  readonly name: string;
  readonly text: string;
}

/**
 * Replaces the file at `secrets.path` with the secrets of an export, which are migrated to this version first. The replacement is atomic.
 * @param database the mirror that they belong to, which no daemon uses
 * @throws MirrorError `already_running`, `wrong_passphrase`, `secrets_export_unusable`, `database_newer`, `database_locked`, of files.
 */
export async function importSecrets(
  { name, text }: SealedFile,
  passphrase: Secret,
  secrets: SecretsFile,
  database: string,
): Promise<SecretCounts> {
  const image = await unseal(text, passphrase, name);
  const place = resolvedPath(secrets.path);
  for (const path of [place, resolvedPath(database)]) makeFolder(dirname(path));
  const lock = takeSideLock(database, secrets.clock.now());
  const draft = join(dirname(place), `.${basename(place)}.${Buffer.from(secrets.random.bytes(6)).toString('hex')}`);
  try {
    writePrivately(draft, image);
    await (await openSecrets({ ...secrets, path: draft })).close();
    readBack(draft);
    const counts = countSecrets(draft);
    withoutCompanions(place, () => rename(draft, place));
    return counts;
  } catch (error) {
    const known = error instanceof MirrorError ? error : unwritable(secrets.path, error);
    throw withMessage(known, known.message.replaceAll(draft, name));
  } finally {
    for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(draft + suffix, { force: true });
    lock.release();
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    throw unwritable(path, error);
  }
}

function unwritable(path: string, error: unknown): MirrorError {
  return new MirrorError('file_unwritable', `${path} cannot be written: ${asMirrorError(error).message}.`, {
    cause: error,
  });
}
