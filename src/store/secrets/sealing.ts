/**
 * Seals single values of secrets, so that they can stand in a database that others back up, copy and administer: only who has the file with
 * the key reads them.
 *
 * A value is sealed with AES-256-GCM and a nonce of its own, and bound to its kind and its owner: put in another place, it does not open.
 * Two values that are alike do not look alike, so nothing is found by a sealed value; it is opened and compared.
 *
 * While a key is replaced, its file holds two lines: the first seals, both open. What the second sealed is sealed anew when a daemon begins;
 * then the second line can go.
 */
import { createCipheriv, createDecipheriv, createHash, createSecretKey, type KeyObject } from 'node:crypto';
import type { Random } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import { isWeak } from '../../domain/secret.ts';
import { readSecretFile, reasonOf } from '../../settings/file.ts';

/** What a value is; in the words of messages. */
export type SecretKind = 'path token' | 'callback address' | 'verifier' | 'access token' | 'refresh token';

/** How values of secrets are written into their tables, and read from there. `owner` is an account, or the client of a token pair. */
export interface Sealing {
  seal(kind: SecretKind, owner: string, plain: string): string;
  /** @throws MirrorError `secrets_key_unknown`, `secrets_altered`. */
  open(kind: SecretKind, owner: string, stored: string): string;
  /** Whether a value is stored as `seal` stores it now. If not, it should be sealed anew. */
  isCurrent(stored: string): boolean;
}

/** For a file that only its owner may read: values stand in it as they are. */
export const unsealed: Sealing = {
  seal: (_kind, _owner, plain) => plain,
  open: (_kind, _owner, stored) => stored,
  isCurrent: () => true,
};

interface SealingKey {
  /** By which a sealed value says what it was sealed with. */
  readonly id: string;
  readonly key: KeyObject;
}

const version = 'v1';
const algorithm = 'aes-256-gcm';
const [keyBytes, nonceBytes, tagBytes] = [32, 12, 16];
const form = new RegExp(`^${version}\\.([0-9a-f]{8})\\.([A-Za-z0-9_-]+)$`);

/** Seals with the keys of a file. A sealed value is `v1.<id of the key>.<base64url of nonce, ciphertext and tag>`. */
export class KeySealing implements Sealing {
  readonly #current: SealingKey;
  readonly #keys: readonly SealingKey[];
  readonly #random: Pick<Random, 'bytes'>;

  /**
   * @param keyFile the path of the file with the keys; undefined where none is named
   * @throws MirrorError `secrets_key_unusable`.
   */
  constructor(keyFile: string | undefined, random: Pick<Random, 'bytes'>) {
    const [current, ...others] = readKeys(keyFile);
    this.#current = current;
    this.#keys = [current, ...others];
    this.#random = random;
  }

  seal(kind: SecretKind, owner: string, plain: string): string {
    const { id, key } = this.#current;
    const nonce = this.#random.bytes(nonceBytes);
    const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
    cipher.setAAD(placeOf(kind, owner));
    const sealed = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${version}.${id}.${sealed.toString('base64url')}`;
  }

  open(kind: SecretKind, owner: string, stored: string): string {
    const [, id, text = ''] = form.exec(stored) ?? [];
    const sealed = Buffer.from(text, 'base64url');
    // Decoding ignores bits at the end of the text, and what was altered there should not open either.
    if (id === undefined || sealed.length < nonceBytes + tagBytes || sealed.toString('base64url') !== text)
      throw altered(kind, owner);
    const known = this.#keys.find((key) => key.id === id);
    if (!known)
      throw new MirrorError(
        'secrets_key_unknown',
        `The ${kind} of ${owner} is sealed with the key ${id}, which is not in the file of secretsKeyFile.`,
      );
    const decipher = createDecipheriv(algorithm, known.key, sealed.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    });
    decipher.setAAD(placeOf(kind, owner));
    decipher.setAuthTag(sealed.subarray(-tagBytes));
    try {
      const plain = decipher.update(sealed.subarray(nonceBytes, -tagBytes));
      return Buffer.concat([plain, decipher.final()]).toString();
    } catch (cause) {
      throw altered(kind, owner, cause);
    }
  }

  isCurrent(stored: string): boolean {
    return form.exec(stored)?.[1] === this.#current.id;
  }
}

/** The associated data. No kind contains what separates the two. */
function placeOf(kind: SecretKind, owner: string): Buffer {
  return Buffer.from(`${kind}\0${owner}`);
}

function altered(kind: SecretKind, owner: string, cause?: unknown): MirrorError {
  return new MirrorError(
    'secrets_altered',
    `The ${kind} of ${owner} does not open: it was altered, or moved there from another place.`,
    { cause },
  );
}

/** The keys of a file, the one that seals first. */
function readKeys(file: string | undefined): readonly [SealingKey, ...SealingKey[]] {
  if (file === undefined)
    throw unusable('Secrets in PostgreSQL are sealed, and the settings name no file with a key (secretsKeyFile).');
  let text: string;
  try {
    text = readSecretFile(file);
  } catch (cause) {
    throw unusable(`The file ${file} of secretsKeyFile cannot be read: ${reasonOf(cause)}.`, cause);
  }
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const [current, ...others] = lines.map((line, index) => {
    const key = keyIn(line);
    if (typeof key !== 'string') return key;
    throw unusable(`Key ${index + 1} of ${file}, the file of secretsKeyFile, ${key}.`);
  });
  if (current === undefined || others.length > 1)
    throw unusable(`${file}, the file of secretsKeyFile, holds ${lines.length} keys; it should hold one or two.`);
  return [current, ...others];
}

/** The key that a line holds; or why it holds none. */
function keyIn(line: string): SealingKey | string {
  const isHex = /^[0-9a-f]{64}$/i.test(line);
  if (!isHex && !/^[A-Za-z0-9+/_-]{43}=?$/.test(line)) return `is not ${keyBytes} bytes in hex or base64`;
  if (isWeak(line, keyBytes)) return 'is soon guessed';
  const bytes = Buffer.from(line, isHex ? 'hex' : 'base64');
  return { id: createHash('sha256').update(bytes).digest('hex').slice(0, 8), key: createSecretKey(bytes) };
}

function unusable(message: string, cause?: unknown): MirrorError {
  return new MirrorError('secrets_key_unusable', message, { cause });
}
