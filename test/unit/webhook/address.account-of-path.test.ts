/** Unknown paths, and that they take as much work as known ones. */
import crypto from 'node:crypto';
import { beforeEach, expect, it } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { accountOfPath } from '../../../src/webhook/address.ts';
import { replaceBuiltin } from '../../support/source/builtin.ts';

/** How many bytes were compared, each time. */
let compared: number[] = [];

beforeEach(() => {
  compared = [];
  replaceBuiltin(crypto, 'timingSafeEqual', (timingSafeEqual) => (one, other) => {
    compared.push(one.byteLength);
    return timingSafeEqual(one, other);
  });
});

const token = 'Zm9yIHRlc3RzIG9ubHk';
const tokens = new Map([['6BApk', new Secret(token)]]);

it.each([
  ['an account that is not served', `/webhooks/nobody/${token}`],
  ['a wrong token', '/webhooks/6BApk/wrong'],
  ['the beginning of the token', `/webhooks/6BApk/${token.slice(0, -1)}`],
  ['more than the token', `/webhooks/6BApk/${token}x`],
  ['no token', '/webhooks/6BApk'],
  ['a segment too many', `/webhooks/6BApk/${token}/x`],
  ['an escape of another character', `/webhooks/6BApk/${token.slice(0, -1)}%4C`],
  ['another place', `/elsewhere/6BApk/${token}`],
])('H14 a path with %s is unknown, and takes as much work to compare as the right one', (_, path) => {
  expect(accountOfPath(path, tokens)).toBeUndefined();
  expect(compared).toEqual([32]);
});

it.each([
  ['as it was made', `/webhooks/6BApk/${token}`],
  ['with a slash at its end', `/webhooks/6BApk/${token}/`],
  ['with an escape', `/webhooks/6BApk/${token.slice(0, -1)}%6b`],
  ['with an escape in the account', `/webhooks/6BAp%6B/${token}`],
])('H14 the right path, %s, belongs to its account, and is compared once', (_, path) => {
  expect(accountOfPath(path, tokens)).toBe('6BApk');
  expect(compared).toEqual([32]);
});
