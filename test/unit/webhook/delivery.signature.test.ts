import fc from 'fast-check';
import { createHmac } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import {
  type FoundOrders,
  type Pairs,
  SignatureCheck,
  signatureIn,
  isSigned,
  signedForms,
} from '../../../src/webhook/delivery.ts';
import { pythonCases } from '../../support/deliveries/python-cases.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const key = new Secret('k3y');
const sign = (text: string, secret = key) => createHmac('sha256', secret.reveal()).update(text).digest('base64');
const pairs: Pairs = [
  ['object_id', '7'],
  ['name', 'bill_vendor.update'],
  ['account_id', '6BApk'],
];

/** Orders that are kept, without a file. */
function store(): FoundOrders {
  let kept: (readonly string[])[] = [];
  return {
    keyOrders: () => Promise.resolve([...kept]),
    keepKeyOrder(order) {
      kept = [order, ...kept].slice(0, 8);
      return Promise.resolve();
    },
  };
}

const formsOf = (of: Pairs) => [...signedForms(of)];

describe('E1, E2 the texts that may have been signed', () => {
  it('E2 are those of Python: order of arrival, ASCII; plain UTF-8; E1 sorted', () => {
    expect(pythonCases).toHaveLength(250);
    for (const { pairs, ascii, utf8, sorted } of pythonCases)
      for (const text of [ascii, utf8, sorted]) expect(isSigned(pairs, sign(text), [key])).toBe(true);
  });

  it('E2 are at most 24: three orders, two escapings, two forms of a slash, two of blanks', () => {
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
    expect(formsOf([...pairs, ['z', '/ü,']])).toHaveLength(24);
  });

  it('E1 include the order of the reference, with unknown parameters at the end', () => {
    expect(formsOf([['zeal', '1'], ...pairs, ['apex', '2']])).toContain(
      '{"name": "bill_vendor.update", "object_id": "7", "account_id": "6BApk", "zeal": "1", "apex": "2"}',
    );
    const names = ['name', 'object_id', 'account_id', 'business_id', 'identity_id', 'user_id'];
    const shuffled = [4, 1, 5, 0, 3, 2].map((index): Pairs[number] => [names[index]!, '1']);
    expect(formsOf(shuffled)).toContain(`{${names.map((name) => `"${name}": "1"`).join(', ')}}`);
  });

  it('E1 are never those of parameters that differ in more than blanks after colons and commas', () => {
    const part = fc.string({ unit: fc.constantFrom('a', '"', ',', ':', ' ', '\\', '/', 'ü'), maxLength: 6 });
    const parameters = fc.uniqueArray(fc.tuple(part, part), { selector: ([name]) => name, maxLength: 4 });
    const bare = (text: string) => text.replace(/([:,]) /g, '$1');
    const content = (list: Pairs) =>
      JSON.stringify(
        list.map(([name, value]) => [bare(name), bare(value)]).sort(([a = ''], [b = '']) => (a < b ? -1 : 1)),
      );
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

describe('L28 what the reference leaves open', () => {
  const full: Pairs = [
    ['name', 'bill_vendor.update'],
    ['object_id', '7'],
    ['account_id', '6BApk'],
    ['business_id', '8'],
    ['identity_id', '9'],
    ['user_id', '1'],
  ];
  const inOrder = (names: readonly string[], from: Pairs = full): Pairs =>
    names.map((name) => from.find(([other]) => other === name)!);
  const json = (of: Pairs): string => `{${of.map(([name, value]) => `"${name}": "${value}"`).join(', ')}}`;
  const own = ['identity_id', 'user_id', 'account_id', 'name', 'business_id', 'object_id'];
  const rest = full.filter(([name]) => name !== 'object_id');

  it('a space after every colon and comma may be meant of those inside values too', () => {
    const text = '{"at": "10: 45, Kö: ln", "object_id": "7", "name": "bill_vendor.update", "account_id": "6BApk"}';
    expect(isSigned([['at', '10:45,Kö:ln'], ...pairs], sign(text), [key])).toBe(true);
    expect(isSigned([['at', '10:45,Kö:ln'], ...pairs], sign(text.replace('10: 45', '10:45')), [key])).toBe(false);
  });

  it.each([
    ['six keys', own, full],
    ['five keys', own.filter((name) => name !== 'object_id'), rest],
    ['seven keys', ['origin', ...own], [...full, ['origin', 'x: y']] as Pairs],
  ])('an order of the keys that is none of the usual ones is found: %s', async (_, order, sent) => {
    const check = new SignatureCheck(virtualClock(), store());
    const signature = sign(json(inOrder(order, sent)));
    expect(isSigned(sent, signature, [key])).toBe(false);
    expect(await check.isSigned('a', sent, signature, [new Secret('old'), key])).toBe(true);
  });

  it('the order that was found serves other deliveries, keys and accounts, also with fewer or more parameters', async () => {
    const clock = virtualClock();
    const check = new SignatureCheck(clock, store());
    expect(await check.isSigned('a', full, sign(json(inOrder(own))), [key])).toBe(true);
    const other = new Secret('other');
    const fewer = own.filter((name) => name !== 'business_id');
    // No account has another search within a minute, so these are found by the order alone.
    for (const account of ['a', 'b']) {
      expect(await check.isSigned(account, full, 'A'.repeat(43) + '=', [key])).toBe(false);
      expect(await check.isSigned(account, full, sign(json(inOrder(own)), other), [other])).toBe(true);
      const sent = full.filter(([name]) => name !== 'business_id');
      expect(await check.isSigned(account, sent, sign(json(inOrder(fewer, sent))), [key])).toBe(true);
      const more: Pairs = [['zeal', '1'], ...full];
      expect(await check.isSigned(account, more, sign(json([...inOrder(own), ['zeal', '1']])), [key])).toBe(true);
    }
  });

  it('wrong signatures cause one search a minute for each account, and a right one is found after that', async () => {
    const clock = virtualClock();
    const check = new SignatureCheck(clock, store());
    await clock.pass(100_000);
    const wrong = 'A'.repeat(43) + '=';
    const right = sign(json(inOrder(own)));
    expect(await check.isSigned('a', full, wrong, [key])).toBe(false);
    expect(await check.isSigned('a', full, right, [key])).toBe(false);
    await clock.pass(59_000);
    expect(await check.isSigned('a', full, right, [key])).toBe(false);
    await clock.pass(1_000);
    expect(await check.isSigned('a', full, right, [key])).toBe(true);
  });

  it('deliveries that arrive during a search wait for it', async () => {
    const check = new SignatureCheck(virtualClock(), store());
    const signature = sign(json(inOrder(own)));
    const all = Array.from({ length: 5 }, () => check.isSigned('a', full, signature, [key]));
    expect(await Promise.all(all)).toEqual([true, true, true, true, true]);
  });

  it('a search is bounded: eight keys are not searched, and nothing is without a key', async () => {
    const check = new SignatureCheck(virtualClock(), store());
    const eight: Pairs = [...full, ['a', '1'], ['b', '2']];
    const text = json([...eight.slice(4), ...eight.slice(0, 4)]);
    expect(await check.isSigned('a', eight, sign(text), [key])).toBe(false);
    const right = sign(json(inOrder(own)));
    expect(await check.isSigned('b', full, right, [])).toBe(false);
    expect(await check.isSigned('b', full, 'no signature', [key])).toBe(false);
    // Neither of them was a search.
    expect(await check.isSigned('b', full, right, [key])).toBe(true);
  });

  it.each([
    ['all 5,040 orders of seven keys', 1, 10],
    ['as many digests as three keys need', 30, 241],
  ])('a search tries %s, and others have their turn after each five hundred: with %i keys', async (_, keys, turns) => {
    const clock = virtualClock();
    const turn = vi.spyOn(clock, 'yield');
    const seven: Pairs = [...full, ['origin', 'x']];
    const verifiers = Array.from({ length: keys }, (_, nth) => new Secret(`key ${nth}`));
    expect(await new SignatureCheck(clock, store()).isSigned('a', seven, 'A'.repeat(43) + '=', verifiers)).toBe(false);
    expect(turn).toHaveBeenCalledTimes(turns);
  });

  it('an order that was found needs no search after a restart, whatever forged deliveries used the search up', async () => {
    const orders = store();
    const right = sign(json(inOrder(own)));
    expect(await new SignatureCheck(virtualClock(), orders).isSigned('a', full, right, [key])).toBe(true);
    const restarted = new SignatureCheck(virtualClock(), orders);
    expect(await restarted.isSigned('a', full, 'A'.repeat(43) + '=', [key])).toBe(false);
    expect(await restarted.isSigned('a', full, right, [key])).toBe(true);
  });

  it('an order that one process found needs no search in another one that has begun before', async () => {
    const orders = store();
    const right = sign(json(inOrder(own)));
    const [one, other] = [new SignatureCheck(virtualClock(), orders), new SignatureCheck(virtualClock(), orders)];
    expect(await other.isSigned('a', full, 'A'.repeat(43) + '=', [key])).toBe(false);
    expect(await one.isSigned('a', full, right, [key])).toBe(true);
    expect(await other.isSigned('a', full, right, [key])).toBe(true);
  });

  it('an order that could not be kept or read is believed by nobody, and the next delivery tries again at once', async () => {
    const orders = store();
    const check = new SignatureCheck(virtualClock(), orders);
    const right = sign(json(inOrder(own)));
    for (const operation of ['keyOrders', 'keepKeyOrder'] as const) {
      vi.spyOn(orders, operation).mockRejectedValueOnce(new Error('full'));
      await expect(check.isSigned('a', full, right, [key])).rejects.toThrow('full');
    }
    expect(await check.isSigned('a', full, right, [key])).toBe(true);
    expect(await orders.keyOrders()).toEqual([own]);
  });

  it('deliveries that read the orders together lose none that one of them finds', async () => {
    const orders = store();
    const reads = vi.spyOn(orders, 'keyOrders');
    let answer: (kept: string[][]) => void = () => undefined;
    reads.mockReturnValueOnce(new Promise((resolve) => (answer = resolve)));
    const check = new SignatureCheck(virtualClock(), orders);
    const right = sign(json(inOrder(own)));
    const late = check.isSigned('a', full, 'A'.repeat(43) + '=', [key]);
    expect(await check.isSigned('a', full, right, [key])).toBe(true);
    answer([]);
    expect(await late).toBe(false);
    expect(await check.isSigned('a', full, right, [key])).toBe(true);
  });

  it('the last eight orders that were found are remembered', async () => {
    const check = new SignatureCheck(virtualClock(), store());
    const rotated = (names: readonly string[]) => names.map((_, by) => [...names.slice(by), ...names.slice(0, by)]);
    const orders = [...rotated(own), ...rotated([...own].reverse())].slice(0, 9);
    const isSignedIn = (order: readonly string[], nth: number) =>
      check.isSigned(`account ${nth}`, full, sign(json(inOrder(order))), [key]);
    for (const [nth, order] of orders.entries()) expect(await isSignedIn(order, nth)).toBe(true);
    // Each account had its search of this minute.
    expect([await isSignedIn(orders[0]!, 0), await isSignedIn(orders[1]!, 1)]).toEqual([false, true]);
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
    for (const name of [
      'x-hmac-sha256',
      'x-service-hmac-sha512',
      'old-x-service-hmac-sha256',
      'x-service-hmac-sha256-old',
    ])
      expect(found({ [name]: ['s'] })).toBeUndefined();
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
