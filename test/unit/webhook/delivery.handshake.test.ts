import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseForm, type Pairs } from '../../../src/webhook/delivery.ts';
import { readHandshake } from '../../../src/webhook/delivery.ts';

const verifier = 'xfusfWfWkPqCs1PvZrHVEkLMcVgDb2';
const read = (body: string, query: Pairs = []) =>
  readHandshake({ query, form: parseForm(Buffer.from(body)) ?? [], body: Buffer.from(body) });
const form = (pairs: Record<string, string>) => new URLSearchParams(pairs).toString();

describe('D4 a code is read', () => {
  const flat = { name: 'callback.verify', verifier, object_id: '2001', account_id: '6BApk' };
  const callback = { callbackid: 2001, verifier };
  const flatForm = form({ verifier, callback_id: '2001' });
  it.each([
    ['a form, as captured', form({ user_id: '1', ...flat, system: 'https://x.example' })],
    ['a form in another order', form({ account_id: '6BApk', object_id: '2001', verifier, name: 'callback.verify' })],
    ['a form without a name', form({ verifier, callback_id: '2001' })],
    ['a form in brackets', form({ 'callback[verifier]': verifier, 'callback[callbackid]': '2001' })],
    ['a form with dots', form({ 'callback.verifier': verifier, 'callback.id': '2001' })],
    ['a form whose letters are escaped', flatForm.replace('verifier', '%76erifier')],
    ['a form whose code has another name', form({ code: verifier, callback_id: '2001' })],
    ['a form that holds JSON', form({ payload: JSON.stringify(flat) })],
    ['JSON', JSON.stringify(flat)],
    ['JSON with a number', JSON.stringify({ ...flat, object_id: 2001 })],
    ['JSON that is nested', JSON.stringify({ callback })],
    ['JSON in the envelope', JSON.stringify({ response: { result: { callback: { ...callback, id: 2001 } } } })],
    ['a list in JSON', JSON.stringify([{ name: 'callback.verify', object_id: 2001 }, { verification_code: verifier }])],
    [
      'pairs in JSON',
      JSON.stringify([
        ['name', 'callback.verify'],
        ['object_id', '2001'],
        ['code', verifier],
      ]),
    ],
    ['JSON whose letters are escaped', JSON.stringify({ verifier, id: 2001 }).replace('verifier', '\\u0076erifier')],
    ['JSON with white space', `\n ${JSON.stringify(flat, null, 2)}`],
  ])('from %s', (_, body) => {
    const found = read(body);
    if (found === undefined || found === 'malformed') throw new Error('Nothing was found.');
    expect([found.verifier.reveal(), found.callbackid]).toEqual([verifier, 2001]);
  });

  it('from the query', () => {
    const found = read('', [
      ['name', 'callback.verify'],
      ['verifier', verifier],
      ['object_id', '2001'],
    ]);
    expect(found).toMatchObject({ callbackid: 2001 });
  });

  it('with the account that it names, as it is', () => {
    for (const account of ['6BApk', '"[a]"', '5'])
      expect(read(form({ ...flat, account_id: account }))).toMatchObject({ accountId: account });
  });

  it.each(['0', '100%ff&id=7', 'verifier=&code=x', '&='.repeat(90), '-1', '1.5', 'x', '9007199254740992'])(
    'and no callback of the number %s',
    (object_id) => {
      expect(read(form({ ...flat, object_id }))).toMatchObject({ callbackid: null });
    },
  );

  it('from six levels at most, those of JSON inside of text included, and among 64 fields at most', () => {
    const nested = (levels: number): string =>
      levels === 1 ? JSON.stringify({ verifier }) : `{"a":${nested(levels - 1)}}`;
    const quoted = (levels: number): string =>
      levels === 0 ? JSON.stringify({ verifier }) : JSON.stringify({ a: quoted(levels - 1) });
    const among = (others: number): string =>
      form({ verifier, ...Object.fromEntries(Array.from({ length: others }, (_, nth) => [`other${nth}`, 'x'])) });
    expect([nested(6), quoted(2), among(63)].map((body) => read(body) === undefined)).toEqual([false, false, false]);
    expect([nested(7), quoted(3), among(64)].map((body) => read(body))).toEqual([undefined, undefined, undefined]);
  });

  it('even if the callback is not named', () => {
    expect(read(form({ verifier }))).toMatchObject({ callbackid: null, accountId: undefined });
  });
});

describe('L25 a code is read whatever its form', () => {
  it.each([
    'x',
    'short',
    'x'.repeat(300),
    'a b  c ',
    ' ',
    'ünïcode 東京 😀',
    'line\nbreak',
    '{"a":1}',
    '[1]',
    '0',
    '%2B+&=',
  ])('%j', (code) => {
    const callback = { verifier: code, id: 2001 };
    const all = { name: 'callback.verify', verifier: code, object_id: '2001' };
    for (const body of [form(all), JSON.stringify(all), JSON.stringify({ callback })]) {
      const found = read(body);
      if (found === undefined || found === 'malformed') throw new Error('Nothing was found.');
      expect([found.verifier.reveal(), found.callbackid]).toEqual([code, 2001]);
    }
  });
});

describe('D4 no code is read', () => {
  it('from a delivery', () => {
    expect(read(form({ name: 'bill_vendor.update', object_id: '5', verifier }))).toBeUndefined();
    expect(read(form({ object_id: '5' }))).toBeUndefined();
  });

  it('from an empty one', () => {
    expect(read(form({ name: 'callback.verify', verifier: '' }))).toBe('malformed');
    expect(read(JSON.stringify({ name: 'callback.verify', verifier: '' }))).toBe('malformed');
  });

  it('from a verification without a code', () => {
    expect(read(form({ name: 'callback.verify' }))).toBe('malformed');
    expect(read(JSON.stringify({ name: 'callback.verify', verifier: true }))).toBe('malformed');
  });

  it('from deep, long or wild input, without an exception', () => {
    expect(read('['.repeat(8_000) + ']'.repeat(8_000))).toBeUndefined();
    expect(read(`{"a":${'['.repeat(10)}{"verifier":"${verifier}"}${']'.repeat(10)}}`)).toBeUndefined();
    expect(read(form(Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`verifier${n}`, 'x']))))).toBeUndefined();
    fc.assert(fc.property(fc.json(), (body) => read(body) === undefined || body.includes('name')));
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (body) => void read(body)));
  });

  it('and it is not shown when printed', () => {
    expect(JSON.stringify(read(form({ verifier })))).not.toContain(verifier);
  });
});
