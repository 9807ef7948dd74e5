/** Paths that lead nowhere, and how much work it takes to find that out. */
import type * as crypto from 'node:crypto';
import { beforeEach, expect, it, vi } from 'vitest';
import { Secret } from '../../../../src/domain/log.ts';
import { accountBehind } from '../../../../src/webhook/receive/account-of-path.ts';

const compared = vi.hoisted(() => [] as number[]);
vi.mock('node:crypto', async (original) => {
  const real = await original<typeof crypto>();
  const timingSafeEqual: typeof real.timingSafeEqual = (one, other) => {
    compared.push(one.byteLength);
    return real.timingSafeEqual(one, other);
  };
  return { ...real, timingSafeEqual };
});

const token = 'Zm9yIHRlc3RzIG9ubHk';
const tokens = new Map([['6BApk', new Secret(token)]]);

beforeEach(() => void compared.splice(0));

it.each([
  ['an account that is not served', `/webhooks/nobody/${token}`],
  ['a wrong token', '/webhooks/6BApk/wrong'],
  ['the beginning of the token', `/webhooks/6BApk/${token.slice(0, -1)}`],
  ['more than the token', `/webhooks/6BApk/${token}x`],
  ['no token', '/webhooks/6BApk'],
  ['a segment too many', `/webhooks/6BApk/${token}/`],
  ['another place', `/elsewhere/6BApk/${token}`],
])('H14 a path with %s leads nowhere, and takes as much work to compare as the right one', (_, path) => {
  expect(accountBehind(path, tokens)).toBeUndefined();
  expect(compared).toEqual([32]);
});

it('H14 the right path leads to its account, and is compared once', () => {
  expect(accountBehind(`/webhooks/6BApk/${token}`, tokens)).toBe('6BApk');
  expect(compared).toEqual([32]);
});
