/** What is soon guessed of what people choose. */
import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { isWeak, redacted, Secret } from '../../../src/domain/secret.ts';

it.each([
  'passwordpassword',
  'adminadminadmin1',
  'Password12345678',
  '87654321drowssaP',
  'qwertyuiopasdfgh',
  'QWERTZqwertzQWERTZ',
  'vendor-mirror-vendor-mirror-',
  'aabbccddeeffgghh',
  'qqwweerrttyyuuiioopp',
  'aaaaaaaabbbbbbbbccdef',
  'abcdefghijklmnopqrstuvwxyz',
  'a1a1a1a1b2b2b2b2c3c3',
  '🂡🂢🂣🂤🂥🂦🂧🂨🂩🂪🂫🂭🂮🃑🃒🃓',
])('L58 %s is soon guessed', (token) => {
  expect(isWeak(token, 16)).toBe(true);
});

it('L58 a passphrase of twelve characters that repeats its beginning is soon guessed', () => {
  expect(isWeak('passwordpass', 12)).toBe(true);
});

it.each([
  'correct horse battery staple',
  'Fünf Bücher über Käse',
  'die Rechnung der Müllerin',
  '大きな古い時計の下で猫が静かに眠った',
])('L58 %s is not', (passphrase) => {
  expect(isWeak(passphrase, 12)).toBe(false);
});

it.each([
  ['base64', 24, 16],
  ['hex', 16, 16],
  ['hex', 32, 32],
  ['base64url', 32, 32],
] as const)('L58 what a program draws is not, in %s of %i bytes', (encoding, bytes, characters) => {
  const drawn = Array.from({ length: 300 }, (_, nth) =>
    createHash('sha256').update(`${nth}`).digest().subarray(0, bytes),
  );
  expect(drawn.filter((one) => isWeak(one.toString(encoding), characters))).toEqual([]);
});

const value = 'k+Zm9/yI-HRl.c3Rz=üo$(b';
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const everyByte = Array.from(Buffer.from(value), (byte) => `%${byte.toString(16)}`).join('');

it.each([
  ['as it is', value],
  ['in capitals', value.toUpperCase()],
  ['escaped as in an address', encodeURIComponent(value)],
  ['escaped as in an address, in small letters', encodeURIComponent(value).toLowerCase()],
  ['escaped twice', encodeURIComponent(encodeURIComponent(value))],
  ['with every byte escaped', everyByte],
  ['escaped as in JSON', JSON.stringify(value).replaceAll('/', '\\/').replaceAll('ü', '\\u00FC')],
  ['in base64', base64(value)],
  ['in base64 for addresses', Buffer.from(value).toString('base64url')],
  ['in base64 within JSON', base64(value).replaceAll('/', '\\/')],
  ['in base64 behind one more byte', base64(`a${value}`)],
  ['in base64 behind two more, before others', base64(`me:${value} and more`)],
])('P6 a secret that an answer repeats %s is redacted', (_, repeated) => {
  const text = redacted(`The value ${repeated} is wrong.`, [undefined, new Secret(''), new Secret(value)]);
  expect(text).toContain('[redacted]');
  expect(text).not.toContain(repeated.slice(4, 16));
  expect(text).toMatch(/^The value .* is wrong\.$/);
});

it('P6 a text without the secret stays as it is', () => {
  const text = 'The value k%2B is wrong: azFabTk=.';
  expect(redacted(text, [new Secret(value), new Secret('ab')])).toBe(text.replace('ab', '[redacted]'));
});
