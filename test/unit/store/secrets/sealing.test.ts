/** Sealed values open with their key, in their place and unaltered, and not otherwise. */
import fc from 'fast-check';
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../../src/domain/clock.ts';
import { MirrorError } from '../../../../src/domain/errors.ts';
import { KeySealing, unsealed, type SecretKind } from '../../../../src/store/secrets/sealing.ts';
import { temporaryFolder } from '../../../support/mirror-file.ts';

const newKey = (): string => randomBytes(32).toString('hex');
const idOf = (key: string): string => createHash('sha256').update(Buffer.from(key, 'hex')).digest('hex').slice(0, 8);

/** Sealing with a file that holds this text. */
function sealing(text: string): KeySealing {
  const path = join(temporaryFolder(), 'key');
  writeFileSync(path, text);
  return new KeySealing(path, systemRandom);
}

function thrownBy(work: () => unknown): MirrorError {
  try {
    work();
  } catch (error) {
    if (error instanceof MirrorError) return error;
    throw error;
  }
  throw new Error('Nothing was thrown.');
}

const kinds: readonly SecretKind[] = ['path token', 'callback address', 'verifier', 'access token', 'refresh token'];
/** Of a sealed value, and what decoders may pass over. */
const alphabet = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.+/= ');
const kind = fc.constantFrom(...kinds);
const text = fc.string({ unit: 'binary' });

describe('a sealed value', () => {
  it('opens in its place as what it was, and in no other place, whatever it is', () => {
    const { current, other } = { current: sealing(newKey()), other: sealing(newKey()) };
    fc.assert(
      fc.property(kind, text, text, kind, text, (ofKind, owner, plain, elsewhere, another) => {
        const stored = current.seal(ofKind, owner, plain);
        expect(current.open(ofKind, owner, stored)).toBe(plain);
        expect(thrownBy(() => other.open(ofKind, owner, stored)).code).toBe('secrets_key_unknown');
        if (elsewhere !== ofKind || another !== owner)
          expect(thrownBy(() => current.open(elsewhere, another, stored)).code).toBe('secrets_altered');
      }),
    );
  });

  it('is text that names its key, and shows neither what it is nor that it is the same again', () => {
    const key = newKey();
    const { one, again } = {
      one: sealing(key).seal('verifier', 'a', 'code'),
      again: sealing(key).seal('verifier', 'a', 'code'),
    };
    expect(one).toMatch(new RegExp(`^v1\\.${idOf(key)}\\.[A-Za-z0-9_-]+$`));
    expect(one).not.toBe(again);
    expect(Buffer.from(one.split('.')[2] ?? '', 'base64url').toString('latin1')).not.toContain('code');
  });

  it('does not open when any of its characters is another, is left out, or follows', () => {
    const at = sealing(newKey());
    // Of 49 bytes, so that decoding passes over four bits of the last character.
    const stored = at.seal('verifier', 'a', 'a code of some length');
    const others = Array.from(stored).flatMap((own, index) => {
      const [before, after] = [stored.slice(0, index), stored.slice(index + 1)];
      const changed = alphabet.filter((character) => character !== own);
      return [...changed.map((character) => before + character + after), before + after, before];
    });
    for (const altered of [...others, `${stored}A`, `${stored}=`, `${stored}\n`, '', 'a code'])
      expect(thrownBy(() => at.open('verifier', 'a', altered)).code, altered).toMatch(
        /^secrets_(?:altered|key_unknown)$/,
      );
  });

  it('does not open when any bit of its nonce, ciphertext or tag is another', () => {
    const at = sealing(newKey());
    const [version, id, bytes = ''] = at.seal('verifier', 'a', 'code').split('.');
    const sealed = Buffer.from(bytes, 'base64url');
    for (let bit = 0; bit < 8 * sealed.length; bit += 1) {
      const altered = Buffer.from(sealed);
      altered.writeUInt8(altered.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      const stored = [version, id, altered.toString('base64url')].join('.');
      expect(thrownBy(() => at.open('verifier', 'a', stored)).code).toBe('secrets_altered');
    }
  });

  it('opens with either key while they are replaced, and says whether it is to be sealed anew', () => {
    const [old, next] = [newKey(), newKey()];
    const before = sealing(old).seal('path token', 'a', 'token');
    const meanwhile = sealing(`${next}\n${old}\n`);
    expect([meanwhile.open('path token', 'a', before), meanwhile.isCurrent(before)]).toEqual(['token', false]);
    const anew = meanwhile.seal('path token', 'a', 'token');
    expect([sealing(next).open('path token', 'a', anew), meanwhile.isCurrent(anew)]).toEqual(['token', true]);
    expect(meanwhile.isCurrent('token')).toBe(false);
    expect(thrownBy(() => sealing(next).open('path token', 'a', before)).message).toBe(
      `The path token of a is sealed with the key ${idOf(old)}, which is not in the file of secretsKeyFile.`,
    );
  });
});

describe('the file of the key', () => {
  const key = randomBytes(32);

  it.each([
    ['hex', key.toString('hex')],
    ['capital hex', key.toString('hex').toUpperCase()],
    ['base64', key.toString('base64')],
    ['base64 without its end', key.toString('base64').replace('=', '')],
    ['base64 of addresses', key.toString('base64url')],
    ['blanks and empty lines around', `\n  ${key.toString('hex')}\t\r\n\n`],
  ])('holds one key, in whatever form: %s', (_, text) => {
    const stored = sealing(key.toString('hex')).seal('verifier', 'a', 'code');
    expect(sealing(text).open('verifier', 'a', stored)).toBe('code');
  });

  it.each([
    ['no key', ' \n', 'holds 0 keys'],
    ['three keys', `${newKey()}\n${newKey()}\n${newKey()}`, 'holds 3 keys'],
    ['half a key', newKey().slice(32), 'Key 1 of'],
    ['a longer key', `${newKey()}00`, 'Key 1 of'],
    ['a second one that is none', `${newKey()}\nsecond`, 'Key 2 of'],
    ['zeros', '0'.repeat(64), 'is soon guessed'],
    ['a pattern', '0123456789abcdef'.repeat(4), 'is soon guessed'],
  ])('is refused with %s, without its text', (_, text, message) => {
    const error = thrownBy(() => sealing(text));
    expect([error.code, error.message]).toEqual(['secrets_key_unusable', expect.stringContaining(message)]);
    for (const line of text.split('\n').filter((part) => part.trim() !== ''))
      expect(inspect(error)).not.toContain(line);
  });

  it('is refused where it is not named or is not there', () => {
    const missing = join(temporaryFolder(), 'missing');
    expect(thrownBy(() => new KeySealing(undefined, systemRandom)).code).toBe('secrets_key_unusable');
    expect(thrownBy(() => new KeySealing(missing, systemRandom)).message).toBe(
      `The file ${missing} of secretsKeyFile cannot be read: ENOENT.`,
    );
  });

  it('gives keys that are not printed', () => {
    const hex = key.toString('hex');
    const printed = inspect(sealing(hex), { depth: 9, showHidden: true });
    expect(printed.replaceAll(/\s/g, '')).not.toContain(hex.slice(0, 16));
  });
});

it('secrets in a file of their own are stored as they are', () => {
  expect(unsealed.seal('verifier', 'a', 'code')).toBe('code');
  expect(unsealed.open('verifier', 'a', 'code')).toBe('code');
  expect(unsealed.isCurrent('code')).toBe(true);
});
