/** L23: a refused delivery leaves a trace: by kind, with the first and the last, and what was wrong; never what was sent. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createLog } from '../../../src/domain/log.ts';
import { RefusalLog } from '../../../src/webhook/refusal-log.ts';
import { delivery, formType, signed } from '../../support/deliveries/signed-delivery.ts';
import { ask } from '../../support/mirror-file.ts';
import { account } from '../../support/names.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const genuine = signed(delivery);
const signature = genuine.headers['x-service-hmac-sha256']!;
const unsigned = { 'content-type': formType };
const post = (body: string, headers: Record<string, string> = { 'content-type': formType }): RequestInit => ({
  method: 'POST',
  headers,
  body,
});

/** Requests, with the outcome that is counted, and what is said of them. */
const requests: readonly [title: string, request: RequestInit, outcome: string, detail: string | null][] = [
  ['another key', signed(delivery, 'another-key'), 'wrong_signature', null],
  [
    'a signature in hexadecimal',
    post(genuine.body, {
      ...genuine.headers,
      'x-service-hmac-sha256': Buffer.from(signature, 'base64').toString('hex'),
    }),
    'wrong_signature',
    'the signature is not the base64 of a SHA-256 digest',
  ],
  ['no signature', post(genuine.body, unsigned), 'unsigned', 'no header looks like one'],
  [
    'a signature under another name',
    post(genuine.body, { ...unsigned, 'X-Webhook-Signature': signature }),
    'unsigned',
    'x-webhook-signature came instead',
  ],
  [
    'two signatures',
    post(genuine.body, { ...genuine.headers, 'x-other-hmac-sha256': signature }),
    'unsigned',
    'several came: x-service-hmac-sha256, x-other-hmac-sha256',
  ],
  ['no parameters', post('hello'), 'malformed', 'parameters are missing or repeated'],
  [
    'another account',
    signed({ ...delivery, account_id: 'another' }),
    'malformed',
    'another account is named than that of the address',
  ],
  ['text', post('hello', { 'content-type': 'Text/Plain; charset=utf-8' }), 'wrong_type', 'text/plain'],
  ['a strange type', post('hello', { 'content-type': 'secret' }), 'wrong_type', 'no media type'],
  ['JSON', post('{"a":1}', { 'content-type': 'application/json' }), 'wrong_type', 'JSON'],
  [
    'a compressed form',
    post('hello', { 'content-type': formType, 'content-encoding': 'gzip' }),
    'wrong_type',
    'compressed',
  ],
  ['too much', post('x'.repeat(20_000)), 'too_large', null],
  ['a redirect', { method: 'GET' }, 'wrong_method', 'GET'],
  ['a code', post(`name=callback.verify&verifier=canary-code-12345&object_id=1`), 'unexpected_code', null],
];

const rows = ({ mirror }: Pick<Testbed<'listener'>, 'mirror'>): unknown[] =>
  ask(mirror.path, 'SELECT outcome, refused, recent, detail FROM _refusals ORDER BY outcome');

describe('L23 a refused request', () => {
  it.each(requests)(
    'with %s is counted with what was wrong, and nothing of it is kept',
    async (_, request, outcome, detail) => {
      const lines: string[] = [];
      const at = await testbed({
        level: 'listener',
        log: createLog('info', { write: (line) => void lines.push(line) }),
      });
      for (let nth = 0; nth < 3; nth++) await (await fetch(at.address, request)).arrayBuffer();
      await at.close();
      expect(rows(at)).toEqual([{ outcome, refused: 3, recent: 3, detail }]);
      expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
        { level: 40, account, outcome, refused: 1, msg: expect.stringContaining(detail ?? '') as unknown },
      ]);
      const everything = lines.join('') + readFileSync(at.mirror.path, 'latin1');
      const token = at.address.slice(at.address.lastIndexOf('/') + 1);
      for (const secret of [signature, 'another-key', 'canary-code-12345', token])
        expect(everything).not.toContain(secret);
    },
  );

  it('to a wrong path token is counted for its account; what no account is named in is not counted', async () => {
    const at = await testbed({ level: 'listener' });
    const to = (path: string) => fetch(at.base + path, genuine).then((answer) => answer.arrayBuffer());
    for (const path of [`/webhooks/${account}/of-lost-secrets`, '/webhooks/nobody/x', '/', '/wp-login.php'])
      await to(path);
    await at.close();
    expect(rows(at)).toEqual([{ outcome: 'unknown_path', refused: 1, recent: 1, detail: null }]);
  });

  it('after one that was accepted begins the recent ones anew; all are counted on', async () => {
    const clock = virtualClock();
    const at = await testbed({ level: 'listener', clock });
    const forged = signed(delivery, 'another-key');
    const send = async (request: RequestInit): Promise<void> => {
      await (await fetch(at.address, request)).arrayBuffer();
      await clock.advance(2_000);
    };
    for (const request of [forged, forged, genuine, forged, genuine, forged, forged, forged]) await send(request);
    await at.close();
    expect(rows(at)).toEqual([{ outcome: 'wrong_signature', refused: 6, recent: 3, detail: null }]);
    const [{ first_at, recent_at, last_at } = {}] = ask(at.mirror.path, 'SELECT * FROM _refusals');
    expect([first_at, recent_at, last_at].map((moment) => Date.parse(`${String(moment).replace(' ', 'T')}Z`))).toEqual(
      [0, 10_000, 14_000].map((ms) => virtualClock().now() + ms),
    );
  });
});

describe('L23 the count', () => {
  it('costs one write a second at most, however many are refused, and loses none to a mirror that was locked', async () => {
    const clock = virtualClock();
    const written: number[] = [];
    let isLocked = false;
    const log = new RefusalLog({
      clock,
      log: createLog('silent', { write: () => undefined }),
      mirror: {
        add(refused) {
          if (isLocked) return Promise.reject(new Error('locked'));
          written.push(...refused.map(({ count }) => count));
          return Promise.resolve();
        },
        forgetStrangers: () => Promise.resolve(),
      },
    });
    for (let nth = 0; nth < 1_000; nth++) {
      log.note(account, 'unsigned', null);
      await clock.advance(10);
    }
    await clock.advance(1_000);
    expect(written.length).toBeLessThanOrEqual(11);
    expect(written.reduce((sum, count) => sum + count, 0)).toBe(1_000);
    isLocked = true;
    for (let nth = 0; nth < 5; nth++) log.note(account, 'malformed', null);
    await clock.advance(5_000);
    isLocked = false;
    log.note(account, 'malformed', null);
    await log.stop();
    expect(written.at(-1)).toBe(6);
  });
});

it('L52 codes that the service did not accept are logged from the fifth of an hour on, with the remedy, and all are counted', async () => {
  const clock = virtualClock();
  const lines: { readonly refused: number; readonly msg: string }[] = [];
  const counted: number[] = [];
  const refusals = new RefusalLog({
    clock,
    log: createLog('info', { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[number]) }),
    mirror: {
      add: (refused) => Promise.resolve(void counted.push(...refused.map(({ count }) => count))),
      forgetStrangers: () => Promise.resolve(),
    },
  });
  const come = (count: number): void => {
    for (let nth = 0; nth < count; nth += 1) refusals.note(account, 'wrong_code', null);
  };
  for (let hour = 0; hour < 3; hour += 1) {
    come(4);
    await clock.advance(3_600_000);
  }
  expect(lines).toEqual([]);
  come(30);
  expect(lines).toMatchObject([
    { refused: 17, msg: expect.stringContaining(`\`vendor-mirror callbacks rotate --account ${account}\``) as string },
  ]);
  await refusals.stop();
  expect(counted.reduce((sum, count) => sum + count, 0)).toBe(42);
});

it('L52 what strangers sent is forgotten with the address that they know, also what is not written yet, and nothing else is', async () => {
  const clock = virtualClock();
  const written: string[] = [];
  const refusals = new RefusalLog({
    clock,
    log: createLog('silent', { write: () => undefined }),
    mirror: {
      add: (refused) =>
        Promise.resolve(void written.push(...refused.map(({ accountId, outcome }) => `${accountId} ${outcome}`))),
      forgetStrangers: (accountId) => Promise.resolve(void written.push(`${accountId} forgotten`)),
    },
  });
  refusals.note(account, 'malformed', null);
  await clock.advance(100);
  for (const outcome of ['wrong_code', 'unexpected_code', 'wrong_signature', 'unsigned'])
    for (const id of [account, 'other']) refusals.note(id, outcome, null);
  await refusals.forgetStrangers(account);
  await clock.advance(2_000);
  expect(written.splice(0, 2)).toEqual([`${account} malformed`, `${account} forgotten`]);
  expect(written.sort()).toEqual(
    [
      `${account} unsigned`,
      'other unexpected_code',
      'other unsigned',
      'other wrong_code',
      'other wrong_signature',
    ].sort(),
  );
  await refusals.stop();
});
