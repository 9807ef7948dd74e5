/** Exports the secrets file, encrypted with a passphrase, to be kept with a copy of the mirror. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { asMirrorError, MirrorError } from '../../domain/errors.ts';
import type { Secret } from '../../domain/secret.ts';
import { rename, writePrivately } from '../files/durable.ts';
import { isNotRegularFile, ownFileAt, resolvedPath, type OwnFiles } from '../files/own-files.ts';
import { connectReader, type Sqlite } from '../sqlite/driver.ts';
import { plainStatement } from '../sqlite/plain-statement.ts';
import { catalogued } from '../sqlite/sqlite-errors.ts';
import { isSealed, seal, type Sealing } from './seal.ts';

/** What a secrets file contains. */
export interface SecretCounts {
  /** Accounts with an address for callbacks. */
  readonly accounts: number;
  /** Token pairs that `login` stored. */
  readonly grants: number;
}

export interface SealOptions extends Sealing {
  readonly passphrase: Secret;
  /** What the export must not replace. */
  readonly own: OwnFiles;
}

/**
 * Writes an export of the secrets to `target`, which only its owner may read; beside a running daemon too.
 * @returns undefined where there are no secrets yet.
 * @throws MirrorError `usage` where `target` cannot be replaced, `file_unwritable`, and of files.
 */
export async function exportSecrets(target: string, options: SealOptions): Promise<SecretCounts | undefined> {
  const { passphrase, random, cost, own } = options;
  refuseTarget(target, own);
  if (!existsSync(own.secrets)) return undefined;
  const { image, counts } = read(own.secrets);
  const text = await seal(image, passphrase, { random, cost });
  const place = resolvedPath(target);
  const draft = join(dirname(place), `.${basename(place)}.${Buffer.from(random.bytes(6)).toString('hex')}`);
  try {
    writePrivately(draft, text);
    rename(draft, place);
  } catch (error) {
    throw new MirrorError('file_unwritable', `${target} cannot be written: ${asMirrorError(error).message}.`, {
      cause: error,
    });
  } finally {
    rmSync(draft, { force: true });
  }
  return counts;
}

/** What a secrets file contains. @throws MirrorError of files. */
export function countSecrets(path: string): SecretCounts {
  return read(path).counts;
}

/** A consistent image of the file, including what is in its journal. */
function read(path: string): { readonly image: Buffer; readonly counts: SecretCounts } {
  let sqlite: Sqlite | undefined;
  try {
    sqlite = connectReader(resolvedPath(path));
    const counts = plainStatement<object, SecretCounts>(
      sqlite,
      `SELECT (SELECT count(*) FROM path_tokens) AS accounts,
        (SELECT count(*) FROM oauth_tokens WHERE refresh_token IS NOT NULL) AS grants`,
    ).get({});
    return { image: sqlite.serialize(), counts: counts ?? { accounts: 0, grants: 0 } };
  } catch (error) {
    throw catalogued(error, path);
  } finally {
    sqlite?.close();
  }
}

function refuseTarget(target: string, own: OwnFiles): void {
  const no = (what: string): never => {
    throw new MirrorError('usage', `${target} ${what}; name another file.`);
  };
  const ours = ownFileAt(target, own);
  if (ours !== undefined) no(`is ${ours}`);
  if (isNotRegularFile(target)) no('is not a regular file');
  if (existsSync(target) && !isSealed(readFileSync(target, 'latin1')))
    no('exists already, and is not an export of secrets');
}
