/**
 * A backup of the secrets that only a passphrase opens: sealed, written and imported.
 *
 * The file itself is encrypted, as SQLite shows it at one moment: so a backup from an older version is migrated like the file. The scrypt
 * parameters belong to the version of the format: a backup cannot ask for a larger N, because whoever opens it would pay for it; a smaller
 * one, as tests use, is authenticated with the header. A checksum stands beside the tag, which cannot tell damage from a wrong passphrase.
 * The import replaces the file in one step, after the new one was opened, migrated and read back; it needs the daemon's lock.
 */
import { createCipheriv, createDecipheriv, createHash, scrypt } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Random } from '../../domain/clock.ts';
import { MirrorError, errorSentence, withMessage } from '../../domain/errors.ts';
import type { Secret } from '../../domain/secret.ts';
import { takeSideLock } from '../files/locks.ts';
import { isNotRegularFile, namesFolder, ownFileAt, resolvedPath, type OwnFiles } from '../files/own-files.ts';
import { readBack, replaceDatabase, replaceFile } from '../files/replace-file.ts';
import { connectReader, type Sqlite } from '../sqlite/driver.ts';
import { makeFolder } from '../sqlite/file-systems.ts';
import { catalogued } from '../sqlite/sqlite-errors.ts';
import type { SecretsFile } from './secrets.ts';
import { fileStatement } from '../sqlite/connection.ts';

/** Every file of this format begins with it, whatever its version. */
const formatName = 'vendor-mirror secrets';

/** What the key costs, as scrypt's N. A file cannot ask for more, because whoever opens it would pay for it. */
const usualCost = 2 ** 17;

/** The only version; N may be less in a file. */
const form = {
  format: formatName,
  version: 1,
  kdf: 'scrypt',
  N: usualCost,
  r: 8,
  p: 1,
  cipher: 'aes-256-gcm',
} as const;

interface Header {
  readonly format: string;
  readonly version: number;
  readonly N: number;
  readonly salt: string;
  readonly nonce: string;
}

const [saltBytes, nonceBytes, keyBytes, tagBytes] = [16, 12, 32, 16];

/**
 * Encrypts secrets with a passphrase, as a text of three lines: a header in JSON, the ciphertext in base64, and a checksum. The checksum
 * distinguishes a damaged file from a wrong passphrase; that nobody changed the file is proven only by decrypting it.
 */
interface Sealing {
  readonly random: Pick<Random, 'bytes'>;
  /** What the key costs: a power of two, at most the usual. */
  readonly cost?: number | undefined;
}

/** Encrypts bytes, each time with a new salt and nonce. */
export async function seal(
  plain: Uint8Array,
  passphrase: Secret,
  { random, cost = usualCost }: Sealing,
): Promise<string> {
  const draw = (count: number): Buffer => Buffer.from(random.bytes(count));
  const [salt, nonce] = [draw(saltBytes), draw(nonceBytes)];
  const header = JSON.stringify({ ...form, N: cost, salt: salt.toString('base64'), nonce: nonce.toString('base64') });
  const cipher = createCipheriv(form.cipher, await keyOf(passphrase, salt, cost), nonce);
  cipher.setAAD(Buffer.from(header));
  const data = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  const sealed = `${header}\n${data.toString('base64')}\n`;
  return `${sealed}${checksum(sealed)}\n`;
}

/**
 * Decrypts what `seal` made.
 * @param name of the file, for messages
 * @throws MirrorError `secrets_export_unusable`, `wrong_passphrase`.
 */
export async function unseal(text: string, passphrase: Secret, name: string): Promise<Buffer> {
  const [head = '', data = '', sum = ''] = text.split('\n');
  const header = headerOf(head, name);
  if (text !== `${head}\n${data}\n${sum}\n` || sum !== checksum(`${head}\n${data}\n`))
    throw unusable(`${name} is damaged: its checksum does not match.`);
  const sealed = Buffer.from(data, 'base64');
  if (sealed.length < tagBytes) throw unusable(`${name} is damaged: most of it is missing.`);
  const key = await keyOf(passphrase, Buffer.from(header.salt, 'base64'), header.N);
  const decipher = createDecipheriv(form.cipher, key, Buffer.from(header.nonce, 'base64'), { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(head));
  decipher.setAuthTag(sealed.subarray(-tagBytes));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(0, -tagBytes)), decipher.final()]);
  } catch (cause) {
    throw new MirrorError('wrong_passphrase', `This is not the passphrase of ${name}.`, { cause });
  }
}

/** Whether a text begins like an export of secrets. */
export function isSealed(text: string): boolean {
  return text.startsWith(`{"format":"${formatName}"`);
}

function headerOf(line: string, name: string): Header {
  if (!isSealed(line)) throw unusable(`${name} is not an export of secrets.`);
  let header: Header;
  try {
    header = JSON.parse(line) as Header;
  } catch (cause) {
    throw unusable(`${name} is damaged: its header cannot be read.`, cause);
  }
  if (header.version !== form.version)
    throw unusable(
      `${name} is of version ${header.version} of this format; this program reads version ${form.version}.`,
    );
  const { salt, nonce, ...rest } = header;
  const isForm = isCost(rest.N) && JSON.stringify(rest) === JSON.stringify({ ...form, N: rest.N });
  if (!isForm || !isBytes(salt, saltBytes) || !isBytes(nonce, nonceBytes))
    throw unusable(`${name} is damaged: its header is not one of version ${form.version}.`);
  return header;
}

function isCost(value: unknown): boolean {
  return typeof value === 'number' && value > 1 && value <= usualCost && Number.isInteger(Math.log2(value));
}

function isBytes(text: unknown, count: number): boolean {
  return typeof text === 'string' && Buffer.from(text, 'base64').length === count;
}

/** Normalised, because keyboards encode accents differently. */
function keyOf(passphrase: Secret, salt: Buffer, N: number): Promise<Buffer> {
  const { r, p } = form;
  return new Promise((resolve, reject) => {
    const text = passphrase.reveal().normalize('NFKC');
    // Room for exactly these costs; the default of Node.js is less.
    scrypt(text, salt, keyBytes, { N, r, p, maxmem: 2 * 128 * N * r }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}

function checksum(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function unusable(message: string, cause?: unknown): MirrorError {
  return new MirrorError('secrets_export_unusable', message, { cause });
}

interface SecretCounts {
  /** Accounts with an address for callbacks. */
  readonly accounts: number;
  /** Token pairs that `login` stored. */
  readonly grants: number;
}

/** Exports the secrets file, encrypted with a passphrase, to be kept with a copy of the mirror. */
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
  const refuse = (place: string): void => refuseTarget(target, place, own);
  refuse(target);
  if (!existsSync(own.secrets)) return undefined;
  const { image, counts } = read(own.secrets);
  const text = await seal(image, passphrase, { random, cost });
  await replaceFile(target, { random, refuse, isSecret: true }, (handle) => writeFileSync(handle, text));
  return counts;
}

/** What a secrets file contains. @throws MirrorError of files. */
function countSecrets(path: string): SecretCounts {
  return read(path).counts;
}

/** A consistent image of the file, including what is in its journal. */
function read(path: string): { readonly image: Buffer; readonly counts: SecretCounts } {
  let sqlite: Sqlite | undefined;
  try {
    sqlite = connectReader(resolvedPath(path));
    const counts = fileStatement(sqlite)<object, SecretCounts>`
      SELECT (SELECT count(*) FROM path_tokens WHERE account_id <> '') AS accounts,
        (SELECT count(*) FROM oauth_tokens WHERE refresh_token IS NOT NULL) AS grants`.get({});
    return { image: sqlite.serialize(), counts: counts ?? { accounts: 0, grants: 0 } };
  } catch (error) {
    throw catalogued(error, path);
  } finally {
    sqlite?.close();
  }
}

function refuseTarget(target: string, place: string, own: OwnFiles): void {
  const no = (what: string): never => {
    throw new MirrorError('usage', `${target} ${what}; name another file.`);
  };
  const ours = ownFileAt(place, own);
  if (ours !== undefined) no(`is ${ours}`);
  if (namesFolder(target)) no('is the name of a folder');
  if (isNotRegularFile(place)) no('is not a regular file');
  if (existsSync(place) && !isSealed(readFileSync(place, 'latin1')))
    no('exists already, and is not an export of secrets');
}

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
  for (const path of [secrets.path, database]) makeFolderOf(resolvedPath(path));
  const lock = takeSideLock(database, secrets.clock.now());
  try {
    let counts: SecretCounts = { accounts: 0, grants: 0 };
    const by = { random: secrets.random, isSecret: true, refuse: () => undefined };
    await replaceDatabase(secrets.path, by, async (draft) => {
      writeFileSync(draft, image);
      counts = await opened(draft, name, secrets);
    });
    return counts;
  } finally {
    lock.release();
  }
}

/** Migrates and checks the file at `draft`, which came from an export of that name. */
async function opened(draft: string, name: string, secrets: SecretsFile): Promise<SecretCounts> {
  try {
    // Loaded when it is needed, because an export does not need it.
    const { openSecrets } = await import('./secrets.ts');
    await (await openSecrets({ ...secrets, path: draft })).close();
    readBack(draft);
    return countSecrets(draft);
  } catch (error) {
    throw error instanceof MirrorError ? withMessage(error, error.message.replaceAll(draft, name)) : error;
  }
}

function makeFolderOf(path: string): void {
  try {
    makeFolder(dirname(path));
  } catch (error) {
    throw unwritable(path, error);
  }
}

function unwritable(path: string, error: unknown): MirrorError {
  return new MirrorError('file_unwritable', `${path} cannot be written: ${errorSentence(error)}`, {
    cause: error,
  });
}
