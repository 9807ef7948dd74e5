import { createDecipheriv, createHash, scryptSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../../src/domain/clock.ts';
import { Secret } from '../../../../src/domain/secret.ts';
import { isSealed, seal, unseal } from '../../../../src/store/secrets/sealed-backup.ts';

const passphrase = new Secret('correct horse battery');
/** A usual key takes half a second. */
const cheap = { random: systemRandom, cost: 2 ** 10 };
const plain = Buffer.from('the secrets of an installation');

/** The text with another checksum that fits. */
function resummed(text: string): string {
  const body = text.split('\n').slice(0, 2).join('\n') + '\n';
  return `${body}${createHash('sha256').update(body).digest('hex')}\n`;
}

describe('a sealed text', () => {
  it('opens with its passphrase, also if accents are typed in another form, and is different each time', async () => {
    const accented = new Secret('pass\u00e9 compos\u00e9!');
    const [one, two] = [await seal(plain, accented, cheap), await seal(plain, accented, cheap)];
    expect(one).not.toBe(two);
    expect(isSealed(one)).toBe(true);
    expect(one).not.toContain(plain.toString());
    const decomposed = new Secret(accented.reveal().normalize('NFD'));
    expect(await unseal(one, decomposed, 'f')).toEqual(plain);
  });

  it('can be opened by another program from what its header and the documents say', async () => {
    const [head = '', data = '', sum] = (await seal(plain, passphrase, { random: systemRandom })).split('\n');
    const { salt, nonce, ...header } = JSON.parse(head) as {
      salt: string;
      nonce: string;
      N: number;
      r: number;
      p: number;
    };
    const { N, r, p } = header;
    expect(header).toEqual({
      format: 'vendor-mirror secrets',
      version: 1,
      kdf: 'scrypt',
      N: 131_072,
      r: 8,
      p: 1,
      cipher: 'aes-256-gcm',
    });
    expect(createHash('sha256').update(`${head}\n${data}\n`).digest('hex')).toBe(sum);
    const key = scryptSync(passphrase.reveal(), Buffer.from(salt, 'base64'), 32, { N, r, p, maxmem: 2 ** 28 });
    const bytes = Buffer.from(data, 'base64');
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64'));
    decipher.setAAD(Buffer.from(head)).setAuthTag(bytes.subarray(-16));
    expect(Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()])).toEqual(plain);
  });

  it('reports a wrong passphrase, damage and a change by somebody in different words', async () => {
    const text = await seal(plain, passphrase, cheap);
    const open = (given: string, by = passphrase): Promise<Buffer> => unseal(given, by, 'FILE');
    await expect(open(text, new Secret('correct horse battery.'))).rejects.toMatchObject({
      code: 'wrong_passphrase',
      message: 'This is not the passphrase of FILE.',
    });
    const damage = { code: 'secrets_export_unusable', message: 'FILE is damaged: its checksum does not match.' };
    const middle = text.indexOf('\n') + 5;
    const turned = text.slice(0, middle) + (text[middle] === 'A' ? 'B' : 'A') + text.slice(middle + 1);
    for (const damaged of [turned, text.slice(0, -10), text.slice(0, text.indexOf('\n') + 3), `${text}x`])
      await expect(open(damaged)).rejects.toMatchObject(damage);
    await expect(open(resummed(turned))).rejects.toMatchObject({ code: 'wrong_passphrase' });
    await expect(open('SQLite format 3\0')).rejects.toMatchObject({ message: 'FILE is not an export of secrets.' });
  });

  it('uses only its own version, and no key that costs more than usual', async () => {
    const text = await seal(plain, passphrase, cheap);
    const changed = (from: string, to: string): Promise<Buffer> =>
      unseal(resummed(text.replace(from, to)), passphrase, 'FILE');
    for (const cost of ['262144', '1073741824', '1000', '1', '0', '-2', '0.5', '"1024"', 'null'])
      await expect(changed('"N":1024', `"N":${cost}`)).rejects.toMatchObject({
        message: 'FILE is damaged: its header is not one of version 1.',
      });
    await expect(changed('"r":8', '"r":9')).rejects.toMatchObject({ code: 'secrets_export_unusable' });
    // A cost that is allowed, and not the one that it was sealed with.
    await expect(changed('"N":1024', '"N":2048')).rejects.toMatchObject({ code: 'wrong_passphrase' });
    await expect(changed('"salt":"', '"salt":"AAAA')).rejects.toMatchObject({ code: 'secrets_export_unusable' });
    await expect(changed('"version":1', '"version":2')).rejects.toMatchObject({
      message: 'FILE is of version 2 of this format; this program reads version 1.',
    });
    await expect(changed('"version":1', '"version":')).rejects.toMatchObject({
      message: 'FILE is damaged: its header cannot be read.',
    });
  });
});

it('L63 a sealed text of which any part is missing is called damaged, also where its checksum fits', async () => {
  const whole = await seal(plain, passphrase, cheap);
  const [head = '', data = ''] = whole.split('\n');
  const cut = [0, 4, 12, 20, 24].map((length) => resummed(`${head}\n${data.slice(0, length)}\n`));
  const truncated = Array.from({ length: 40 }, (_, part) => whole.slice(0, (whole.length * part) / 40));
  for (const text of [...cut.slice(0, -1), ...truncated])
    await expect(unseal(text, passphrase, 'f')).rejects.toMatchObject({ code: 'secrets_export_unusable' });
  await expect(unseal(cut.at(-1)!, passphrase, 'f')).rejects.toMatchObject({ code: 'wrong_passphrase' });
});
