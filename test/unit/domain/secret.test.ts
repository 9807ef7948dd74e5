/** What is soon guessed of what people choose. */
import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { isWeak } from '../../../src/domain/secret.ts';

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
