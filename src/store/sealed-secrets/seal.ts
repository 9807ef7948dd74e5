/**
 * Encrypts secrets with a passphrase, as a text of three lines: a header in JSON, the ciphertext in base64, and a checksum. The checksum
 * distinguishes a damaged file from a wrong passphrase; that nobody changed the file is proven only by decrypting it.
 */
import { createCipheriv, createDecipheriv, createHash, scrypt } from 'node:crypto';
import type { Random } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import type { Secret } from '../../domain/secret.ts';

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

export interface Sealing {
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
