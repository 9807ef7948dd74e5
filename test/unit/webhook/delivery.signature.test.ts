import fc from 'fast-check';
import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { type Pairs, signatureIn, isSigned, signedForms } from '../../../src/webhook/delivery.ts';
import { pythonCases } from '../../support/deliveries/python-cases.ts';

const key = new Secret('k3y');
const sign = (text: string, secret = key) => createHmac('sha256', secret.reveal()).update(text).digest('base64');
const pairs: Pairs = [
  ['object_id', '7'],
  ['name', 'bill_vendor.update'],
  ['account_id', '6BApk'],
];

const formsOf = (of: Pairs) => [...signedForms(of)];

describe('E1, E2 the texts that may have been signed', () => {
  it('E2 are those of Python: order of arrival, ASCII; plain UTF-8; E1 sorted', () => {
    expect(pythonCases).toHaveLength(250);
    for (const { pairs, ascii, utf8, sorted } of pythonCases)
      for (const text of [ascii, utf8, sorted]) expect(isSigned(pairs, sign(text), [key])).toBe(true);
  });

  it('E2 are at most twelve: three orders, two escapings, two forms of a slash', () => {
    expect(
      formsOf([
        ['user_id', 'a/b'],
        ['name', 'ü'],
      ]),
    ).toEqual([
      '{"user_id": "a/b", "name": "\\u00fc"}',
      '{"name": "\\u00fc", "user_id": "a/b"}',
      '{"user_id": "a/b", "name": "ü"}',
      '{"name": "ü", "user_id": "a/b"}',
      '{"user_id": "a\\/b", "name": "\\u00fc"}',
      '{"name": "\\u00fc", "user_id": "a\\/b"}',
      '{"user_id": "a\\/b", "name": "ü"}',
      '{"name": "ü", "user_id": "a\\/b"}',
    ]);
    expect(formsOf([...pairs, ['z', '/ü']])).toHaveLength(12);
  });

  it('E1 include the order of the reference, with unknown parameters at the end', () => {
    expect(formsOf([['zeal', '1'], ...pairs, ['apex', '2']])).toContain(
      '{"name": "bill_vendor.update", "object_id": "7", "account_id": "6BApk", "zeal": "1", "apex": "2"}',
    );
  });

  it('E1 are never those of other parameters', () => {
    const part = fc.string({ unit: fc.constantFrom('a', '"', ',', ':', ' ', '\\', '/', 'ü'), maxLength: 6 });
    const parameters = fc.uniqueArray(fc.tuple(part, part), { selector: ([name]) => name, maxLength: 4 });
    const content = (list: Pairs) => JSON.stringify([...list].sort(([a], [b]) => (a < b ? -1 : 1)));
    fc.assert(
      fc.property(parameters, parameters, (one, other) => {
        fc.pre(content(one) !== content(other));
        const forms = new Set(formsOf(one));
        const shared = formsOf(other).filter((form) => forms.has(form)).length;
        expect(shared).toBe(0);
      }),
    );
  });

  it('never lack spaces', () => {
    expect(isSigned(pairs, sign(JSON.stringify(Object.fromEntries(pairs))), [key])).toBe(false);
  });

  it('are tried with every verifier; without one, nothing is signed', () => {
    const signature = sign(formsOf(pairs)[0] ?? '');
    expect(isSigned(pairs, signature, [new Secret('old'), key])).toBe(true);
    expect(isSigned(pairs, signature, [new Secret('old')])).toBe(false);
    expect(isSigned(pairs, signature, [])).toBe(false);
  });
});

describe('E4, E5 an invalid signature', () => {
  const right = sign(formsOf(pairs)[0] ?? '');
  it.each([
    ['E4 empty', ''],
    ['E4 too short', right.slice(0, -4)],
    ['E4 too long', `AAAA${right}`],
    ['E4 not ASCII', `${right.slice(0, -2)}é=`],
    ['E5 without padding', right.replace(/=+$/, '')],
    ['E5 URL alphabet', right.replaceAll('+', '-').replaceAll('/', '_') + (/[+/]/.test(right) ? '' : ' ')],
    ['E5 with white space', ` ${right}`],
    ['E5 with spare bits set', right.replace(/.=$/, (end) => `${String.fromCharCode(end.charCodeAt(0) + 1)}=`)],
    ['E5 a list', `${right}, ${right}`],
    ['E4 hexadecimal', Buffer.from(right, 'base64').toString('hex')],
  ])('%s', (_, signature) => {
    expect(isSigned(pairs, right, [key])).toBe(true);
    expect(isSigned(pairs, signature, [key])).toBe(false);
  });

  it('E4 of any form is refused without an exception', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => !isSigned(pairs, text, [key])));
  });
});

describe('E5, E6 the signature header', () => {
  /** Headers as they were received, each value with its name. */
  const received = (headers: Readonly<Record<string, string[]>>): string[] =>
    Object.entries(headers).flatMap(([name, values]) => values.flatMap((value) => [name, value]));
  const found = (headers: Readonly<Record<string, string[]>>, setting = 'auto') =>
    signatureIn(received(headers), setting);

  it('E6 is found by its form, whatever the name of the service', () => {
    expect(found({ host: ['x'], 'x-service-hmac-sha256': ['s'] })).toBe('s');
    expect(found({ 'X-Fresh-Books-HMAC-SHA256': ['s'] })).toBe('s');
    expect(found({ accept: ['x-a-hmac-sha256'], 'x-b-hmac-sha256': ['s'] })).toBe('s');
    expect(found({ 'x-hmac-sha256': ['s'], 'x-service-hmac-sha512': ['s'] })).toBeUndefined();
  });

  it('E5 must occur exactly once', () => {
    expect(found({})).toBeUndefined();
    expect(found({ 'x-a-hmac-sha256': ['s', 's'] })).toBeUndefined();
    expect(found({ 'x-a-hmac-sha256': ['s'], 'x-b-hmac-sha256': ['s'] })).toBeUndefined();
  });

  it('E6 may be configured, and then no other counts', () => {
    const headers = { 'x-a-hmac-sha256': ['a'], 'x-signature': ['b'] };
    expect(found(headers, 'X-Signature')).toBe('b');
    expect(found({ 'x-a-hmac-sha256': ['a'] }, 'X-Signature')).toBeUndefined();
  });
});
