import { describe, expect, it } from 'vitest';
import type { TokenSource } from '../../../src/api/auth/token-sources.ts';
import { optionalRetryLimits } from '../../../src/api/optional-requests.ts';
import { MirrorError } from '../../../src/domain/errors.ts';
import { createLog } from '../../../src/domain/log.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { failureOf } from '../../support/failure.ts';
import { scriptedService, token, type Scripted, type ScriptedService } from '../../support/network/scripted-service.ts';
import { broken, fixture, html, json, one, page } from '../../support/network/service-answers.ts';
import { constantRandom } from '../../support/random.ts';
import { defaultSettings } from '../../support/settings.ts';

const busy = (headers: Record<string, string> = {}): Response => json({}, 429, headers);
const down = (headers: Record<string, string> = {}): Response => json({}, 503, headers);
const oneVendor = { response: { result: { bill_vendor: { vendorid: 5 } } } };
const newVendor = { vendor_name: 'Northwind', language: 'en', currency_code: 'USD' };

describe('every request', () => {
  it('has the token and the version, and a content type only if it has a body', async () => {
    const { client, sent } = scriptedService([one(5)]);
    await client.vendors.read(5);
    await client.vendors.create(newVendor);
    expect(sent[0]?.headers).toEqual({
      accept: 'application/json',
      authorization: `Bearer ${token}`,
      'api-version': 'alpha',
      'cache-control': 'no-cache',
      host: 'api.service.example',
      'user-agent': 'vendor-mirror',
      'accept-encoding': 'gzip, br',
      connection: expect.any(String) as string,
    });
    expect(sent[1]?.headers).toMatchObject({ 'content-type': 'application/json' });
    expect(sent[1]?.headers).not.toHaveProperty('cache-control');
    expect(sent[1]?.body).toEqual({ bill_vendor: newVendor });
  });

  it('is refused where a cache answers with a copy that is older than the service may lag, and sent again', async () => {
    const aged = (age: string): Response => json(oneVendor, 200, { age });
    const { client, sent } = scriptedService([aged('7200'), aged('6'), aged('5')]);
    await client.vendors.read(5);
    expect(sent).toHaveLength(3);
    const cached = scriptedService([aged('7200')]);
    expect(await failureOf(cached.client.vendors.read(5))).toMatchObject({
      code: 'answer_unreadable',
      message: expect.stringContaining('the copy of a cache, 2 h old') as string,
      remedy: expect.stringContaining('CDN') as string,
    });
  });

  it('takes a copy of a cache for no proof that the clock is wrong', async () => {
    const made = new Date(Date.UTC(2026, 10, 30, 10)).toUTCString();
    const observed: (number | undefined)[] = [];
    const serviceTime = { observe: ({ servedAt }: { servedAt: number | undefined }) => observed.push(servedAt) };
    const old = json(oneVendor, 200, { date: made, age: '86400' });
    const { client } = scriptedService([old, json(oneVendor, 200, { date: made, age: '5' })], { serviceTime });
    await client.vendors.read(5);
    expect(observed).toEqual([Date.UTC(2026, 10, 30, 10) + 5_000]);
  });

  it('has no version header if the version is null, and keeps the path of the base address', async () => {
    const { client, sent } = scriptedService([one(5)], {
      apiVersion: null,
      baseUrl: 'https://api.service.example/proxy',
    });
    await client.vendors.read(5);
    expect(sent[0]?.headers).not.toHaveProperty('api-version');
    expect(sent[0]?.url.href).toBe(
      'https://api.service.example/proxy/accounting/account/6BApk/bill_vendors/bill_vendors/5',
    );
  });

  it.each(['../', '..', '../../other', 'a/../b', '%2e%2e', '//evil.example/', 'a?b', 'a#b'])(
    'H7 for the account %j never leaves for another address than that of the account',
    async (accountId) => {
      const { client, sent } = scriptedService([one(5)], {}, accountId);
      const call = client.vendors.read(5).then(
        () => undefined,
        (error: unknown) => error,
      );
      const error = await call;
      if (error === undefined)
        expect(sent.map(({ url }) => url.pathname)).toEqual([
          `/accounting/account/${encodeURIComponent(accountId)}/bill_vendors/bill_vendors/5`,
        ]);
      else expect([error, sent]).toMatchObject([{ code: 'bug' }, []]);
    },
  );

  it('takes a new number for each attempt; the reading has the number of the attempt that was answered', async () => {
    const { client, stamps, sent } = scriptedService([json({}, 500), down(), one(5)]);
    const { stamp } = await client.vendors.read(5);
    expect(stamps).toEqual([1, 2, 3]);
    expect(stamp).toEqual({ readSeq: 3, begun: sent[2]?.at });
  });

  it('takes its number only when the rate limiter lets it pass', async () => {
    const { client, stamps } = scriptedService([one(5)], {
      rateLimit: { ...defaultSettings.service.rateLimit, all: { requests: 1, per: 10_000 } },
    });
    const [first, second] = await Promise.all([client.vendors.read(5), client.vendors.read(5)]);
    expect(stamps).toEqual([1, 2]);
    expect(second.stamp.begun - first.stamp.begun).toBe(10_000);
  });

  it('is observed, whether it is answered or not', async () => {
    const { client, observed } = scriptedService([broken('ECONNRESET'), html(502), one(5)]);
    await client.vendors.read(5);
    expect(observed.map(({ family, method, status }) => [family, method, status])).toEqual([
      ['vendors', 'GET', 'error'],
      ['vendors', 'GET', 502],
      ['vendors', 'GET', 200],
    ]);
  });
});

describe('retries', () => {
  it('J6 use exponential backoff with full jitter and end after six attempts', async () => {
    const { client, sent } = scriptedService([json({}, 500)]);
    const error = await failureOf(client.vendors.read(5));
    expect(sent.map(({ at }) => at)).toEqual([0, 500, 1_500, 3_500, 7_500, 15_500]);
    expect(error.code).toBe('service_unavailable');
    expect(error.message).toBe('The service failed with status 500. Gave up after 6 attempts over 16 s.');
  });

  it('K17 are logged with the account and the reason', async () => {
    const records: object[] = [];
    const log = createLog('debug', { write: (line) => void records.push(JSON.parse(line) as object) });
    const { client } = scriptedService([json({}, 500), busy({ 'retry-after': '7' }), one(5)], { log }, 'Hung');
    await client.vendors.read(5);
    expect(records.filter((record) => 'wait' in record)).toMatchObject([
      { account: 'Hung', code: 'service_unavailable', wait: 500 },
      { account: 'Hung', code: 'rate_limited', wait: 7_000 },
    ]);
  });

  it('P8 never wait longer than two minutes in total, nor longer than a minute at once', async () => {
    const { client, sent, clock } = scriptedService([json({}, 500)], {
      random: constantRandom(1),
      retryLimits: { attempts: 100, firstWait: 50_000, maxWait: 60_000, totalWait: 120_000 },
    });
    await failureOf(client.vendors.read(5));
    expect(sent.map(({ at }) => at)).toEqual([0, 50_000, 110_000]);
    expect(clock.monotonic()).toBeLessThanOrEqual(120_000);
  });

  it.each([
    ['an error of the service', json({}, 500), 2],
    ['an answer that cannot be read', html(), 2],
    ['too many requests', busy(), 6],
    ['no connection', broken('ECONNREFUSED'), 6],
  ] as const)(
    'of what a run does without end after two attempts, but for what may not mean the request alone: %s',
    async (_, answer, attempts) => {
      const { client, sent } = scriptedService([answer]);
      await failureOf(client.vendors.page(1, { visState: 1, retryLimits: optionalRetryLimits }));
      expect(sent).toHaveLength(attempts);
    },
  );

  it('of a list whose size is in doubt go on where there are too many requests', async () => {
    const { client } = scriptedService([json({}, 422), page([]), busy(), busy(), page([])]);
    expect(await client.vendors.page(1)).toMatchObject({ rows: [] });
  });

  it.each([
    ['seconds', () => busy({ 'retry-after': '7' }), 7_000],
    ['seconds on 503', () => down({ 'retry-after': '7' }), 7_000],
    ['a date', () => busy({ 'retry-after': 'Fri, 20 Nov 2026 12:00:30 GMT' }), 30_000],
    ['a date gone by', () => busy({ 'retry-after': 'Fri, 20 Nov 2015 12:00:30 GMT' }), 1_000],
    ['nonsense', () => busy({ 'retry-after': 'NaN' }), 500],
    ['nothing', () => busy(), 500],
  ])('A23 wait as long as the service asks with %s', async (_, answer, at) => {
    const { client, sent } = scriptedService([answer(), one(5)]);
    await client.vendors.read(5);
    expect(sent[1]?.at).toBe(at);
  });

  it('A23 honour Retry-After on 429 and 503 only', async () => {
    const { client, sent } = scriptedService([json({}, 500, { 'retry-after': '59' }), one(5)]);
    await client.vendors.read(5);
    expect(sent[1]?.at).toBe(500);
  });

  it.each([
    ['61', 61_000, '61 s'],
    ['1000000000', 3_600_000, 'an hour or more'],
    ['Wed, 21 Oct 2099 07:28:00 GMT', 3_600_000, 'an hour or more'],
  ])('A23 fail at once when asked to wait %s', async (asked, ms, words) => {
    const { client, sent, clock } = scriptedService([busy({ 'retry-after': asked })]);
    const error = await failureOf(client.vendors.read(5));
    expect(sent).toHaveLength(1);
    expect(clock.monotonic()).toBe(0);
    expect(error).toMatchObject({ code: 'rate_limited', retryAfter: ms });
    expect(error.message).toContain(`It asks for a wait of ${words}, which is longer than a request may wait.`);
  });

  it.each(['zstd', 'deflate', 'gzip, gzip'])('A25 name a compression that was not asked for: %s', async (encoding) => {
    const { client } = scriptedService([json(oneVendor, 200, { 'content-encoding': encoding })], {
      retryLimits: { attempts: 1, firstWait: 0, maxWait: 0, totalWait: 0 },
    });
    const { code, message } = await failureOf(client.vendors.read(5));
    expect([code, message]).toEqual([
      'answer_unreadable',
      `The answer is compressed as ${encoding}, which was not asked for.`,
    ]);
  });

  it('A23 wait for all calls when the rate is used up', async () => {
    let second: Promise<unknown> | undefined;
    const { client, sent } = scriptedService([busy({ 'retry-after': '20', 'x-ratelimit-remaining': '0' }), one(5)], {
      observe: () => setImmediate(() => void (second ??= client.vendors.read(5))),
    });
    await client.vendors.read(5);
    await second;
    expect(sent.map(({ at }) => at)).toEqual([0, 20_000, 20_000]);
  });

  it.each([
    ['until the reset', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1030' }, 30_000],
    ['for at most a minute', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '9000' }, 60_000],
    ['not at all where something is left', { 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': '1030' }, 0],
    ['not at all where the reset is past', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '990' }, 0],
    ['not at all for Retry-After alone', { 'x-ratelimit-remaining': '3', 'retry-after': '58' }, 0],
  ])('L99 after an answer that says what is left, all calls wait %s', async (_, headers, wait) => {
    const date = new Date(1_000_000).toUTCString();
    const { client, sent } = scriptedService([json(oneVendor, 200, { ...headers, date }), one(5)]);
    await client.vendors.read(5);
    await client.vendors.read(5);
    expect(sent.map(({ at }) => at)).toEqual([0, wait]);
  });

  it('L99 and a command says so, once a minute: a person waits for it', async () => {
    const lines: string[] = [];
    const log = createLog('info', { write: (line) => void lines.push(line) });
    const used = (reset: number): Response =>
      json(oneVendor, 200, {
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': String(reset),
        date: new Date(1_000_000).toUTCString(),
      });
    for (const isCommand of [true, false]) {
      const { client } = scriptedService([used(1030), used(1020), used(1001), one(5)], { log, isCommand });
      for (let call = 0; call < 4; call++) await client.vendors.read(5);
    }
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { account: '6BApk', wait: 30_000, msg: expect.stringContaining('waiting for 30 s: the service says') as string },
    ]);
  });

  it('L99 where POSTs are used up, only they wait; GETs go on', async () => {
    const date = new Date(1_000_000).toUTCString();
    const used = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1030', date };
    const { client, sent } = scriptedService([
      ({ method }) => (method === 'POST' ? json(oneVendor, 200, used) : json(oneVendor)),
    ]);
    const create = (): Promise<unknown> => client.vendors.create(newVendor);
    await create();
    await client.vendors.read(5);
    await create();
    expect(sent.map(({ method, at }) => [method, at])).toEqual([
      ['POST', 0],
      ['GET', 0],
      ['POST', 30_000],
    ]);
  });

  it.each<[string, () => Scripted]>([
    ['HTML', () => html()],
    ['a cut page', () => json(fixture('vendors-list').slice(0, 500))],
    ['an empty body', () => json('')],
    [
      'another content type',
      () => new Response(fixture('vendors-list'), { headers: { 'content-type': 'text/plain' } }),
    ],
    ['no envelope', () => json({ ok: true })],
    ['a reset', () => broken('ECONNRESET')],
    ['no network', () => broken('ENOTFOUND')],
    ['502 in HTML', () => html(502)],
  ])('A12 A25 request a page again after %s', async (_, fault) => {
    const { client, sent } = scriptedService([fault(), page([1, 2])]);
    const { rows, total } = await client.vendors.page(1);
    expect(sent).toHaveLength(2);
    expect([rows.length, total]).toEqual([2, 2]);
  });

  it.each([
    [() => json(fixture('error-accounting-no-access-http200')), 'access_denied'],
    [() => html(403), 'access_denied'],
    [() => json(fixture('error-accounting-not-found'), 404), 'not_found'],
    [() => html(405), 'not_supported'],
    [() => json({}, 422), 'rejected'],
    [() => json({ response: { result: { bill_vendor: { vendorid: 6 } } } }), 'answer_unreadable'],
    [() => new Response(null, { status: 302, headers: { location: 'https://evil.example/' } }), 'redirected'],
  ])('A22 never follow a refusal (%#)', async (answer, code) => {
    const { client, sent } = scriptedService([answer()], {
      retryLimits: { attempts: 1, firstWait: 0, maxWait: 0, totalWait: 0 },
    });
    expect((await failureOf(client.vendors.read(5))).code).toBe(code);
    expect(sent).toHaveLength(1);
  });

  it.each([
    ['access_denied', html(403)],
    ['redirected', new Response(null, { status: 302 })],
  ])('A22 never follow %s, even with unlimited retries', async (code, answer) => {
    const { client, sent } = scriptedService([answer]);
    expect((await failureOf(client.vendors.read(5))).code).toBe(code);
    expect(sent).toHaveLength(1);
  });

  it('stop at once when the caller aborts, and pass on the reason unchanged', async () => {
    const controller = new AbortController();
    const reason = new Error('shutting down');
    const { client, sent } = scriptedService([json({}, 500)], {
      observe: () => queueMicrotask(() => controller.abort(reason)),
    });
    await expect(client.vendors.read(5, { signal: controller.signal })).rejects.toBe(reason);
    await expect(client.vendors.read(5, { signal: controller.signal })).rejects.toBe(reason);
    expect(sent).toHaveLength(1);
  });
});

describe('writes', () => {
  const doubtful = {
    mayBeDone: true,
    message: expect.stringContaining('It may have been carried out nevertheless.') as string,
  };
  const doubts: [string, Scripted, number][] = [
    ['a refused connection', broken('ECONNREFUSED'), 2],
    ['an unknown name', broken('ENOTFOUND'), 2],
    ['429', busy(), 2],
    ['503 with Retry-After', down({ 'retry-after': '3' }), 2],
    ['a reset', broken('ECONNRESET'), 1],
    ['503 without', down(), 1],
    ['500', json({}, 500), 1],
    ['HTML', html(), 1],
    ['an empty answer', json(''), 1],
    ['an answer that was cut off', json('{"response": {"result": {"bill_vendor": {"vendorid": 5,'), 1],
    ['an answer that is too large', () => json(`"${'x'.repeat(9 * 1_048_576)}"`), 1],
    ['an answer without a number', json({ response: { result: { bill_vendor: {} } } }), 1],
  ];

  it.each(doubts)('a creation that met %s is sent as often as is safe', async (_, fault, times) => {
    const { client, sent } = scriptedService([fault, one(5)]);
    const outcome = client.vendors.create(newVendor);
    if (times === 2) expect((await outcome).row.vendorid).toBe(5);
    else expect(await failureOf(outcome)).toMatchObject(doubtful);
    expect(sent).toHaveLength(times);
  });

  it.each([...doubts, ['an answer about another vendor', one(6), 1] satisfies [string, Scripted, number]])(
    'K45 an edit that met %s is not sent again before the vendor was read, and reports that it may have been carried out',
    async (_, fault, times) => {
      const { client, sent } = scriptedService([fault, one(5)]);
      const outcome = client.vendors.edit(5, { note: 'x' });
      if (times === 2) expect((await outcome).row.vendorid).toBe(5);
      else expect(await failureOf(outcome)).toMatchObject(doubtful);
      expect(sent).toHaveLength(times);
    },
  );

  it('K45 a write whose answer could not be noted reports that it may have been carried out', async () => {
    const onAnswer = () => Promise.reject(new MirrorError('database_locked', 'The database stayed locked.'));
    const { client } = scriptedService([one(5), one(5)], { onAnswer });
    expect(await failureOf(client.vendors.edit(5, { note: 'x' }))).toMatchObject(doubtful);
    expect(await failureOf(client.vendors.create(newVendor))).toMatchObject(doubtful);
  });

  it('K45 an edit that is interrupted while under way reports that it may have been carried out', async () => {
    const controller = new AbortController();
    const { client } = scriptedService([
      () => {
        controller.abort(new MirrorError('interrupted', 'Interrupted by SIGINT.'));
        return one(5);
      },
    ]);
    const outcome = client.vendors.edit(5, { note: 'x' }, { signal: controller.signal });
    expect(await failureOf(outcome)).toMatchObject({ code: 'interrupted', ...doubtful });
  });

  it('a refused creation was not carried out, and is not reported as possibly carried out', async () => {
    const { client } = scriptedService([
      json({ response: { errors: [{ errno: 1001, field: 'language', message: 'Required.' }] } }, 422),
    ]);
    expect((await failureOf(client.vendors.create(newVendor))).message).toBe(
      'The service refused: Required. (field language, errno 1001)',
    );
  });

  it('a removal that finds nothing on a retry succeeded; one that finds nothing at first fails', async () => {
    const missing = json(fixture('error-accounting-not-found'), 404);
    const again = scriptedService([broken('ECONNRESET'), missing]);
    await again.client.gateways.remove(26);
    expect(again.sent).toHaveLength(2);
    expect((await failureOf(scriptedService([missing]).client.gateways.remove(26))).code).toBe('not_found');
  });
});

describe('a refused token', () => {
  const tokens = (next: string | undefined): TokenSource => ({
    current: () => Promise.resolve(new Secret('old')),
    renew: () => Promise.resolve(next === undefined ? undefined : new Secret(next)),
  });
  const unauthenticated = json(fixture('error-unauthenticated'), 401);

  it('A21 is renewed once, and the page is read with the new one', async () => {
    const { client, sent, stamps, clock } = scriptedService([unauthenticated, page([1])], { tokens: tokens('new') });
    const { stamp } = await client.vendors.page(1);
    expect(sent.map(({ headers }) => headers['authorization'])).toEqual(['Bearer old', 'Bearer new']);
    expect(stamps).toHaveLength(2);
    expect(stamp.readSeq).toBe(2);
    expect(clock.monotonic()).toBe(0);
  });

  it('A21 lets a creation be repeated too, because a refused token changed nothing', async () => {
    const { client } = scriptedService([unauthenticated, one(5)], { tokens: tokens('new') });
    expect((await client.vendors.create(newVendor)).row.vendorid).toBe(5);
  });

  it('A21 is renewed at most once for each call, whatever happens in between', async () => {
    let renewals = 0;
    const counted: TokenSource = {
      ...tokens('new'),
      renew: (rejected) => {
        renewals += 1;
        return tokens('new').renew(rejected);
      },
    };
    const { client, sent } = scriptedService([unauthenticated, json({}, 500), unauthenticated], { tokens: counted });
    expect((await failureOf(client.vendors.page(1))).code).toBe('unauthenticated');
    expect([sent.length, renewals]).toEqual([3, 1]);
  });

  it.each<[string, string | undefined, number]>([
    ['the new one is refused as well', 'new', 2],
    ['there is no other', undefined, 1],
  ])('A21 A22 ends the call when %s', async (_, next, requests) => {
    const { client, sent } = scriptedService([unauthenticated], { tokens: tokens(next) });
    expect((await failureOf(client.vendors.page(1))).code).toBe('unauthenticated');
    expect(sent).toHaveLength(requests);
  });
});

describe('P6 no message holds a secret', () => {
  const echo = (stage_: ScriptedService, work: Promise<unknown>): Promise<string> =>
    failureOf(work).then(({ message }) => `${message} ${JSON.stringify(stage_.observed)}`);

  it('when an answer echoes the token', async () => {
    const staged = scriptedService([json({ errno: 401, message: `invalid_token: ${token}` }, 401)]);
    const message = await echo(staged, staged.client.vendors.page(1));
    expect(message).toContain('[redacted]');
    expect(message).not.toContain(token);
  });

  it('when a callback has a verifier and an address', async () => {
    const staged = scriptedService([
      json(
        { errno: 422, message: 'No.', details: ['verifier: canary-verifier', 'uri: https://x.example/canary'] },
        422,
      ),
    ]);
    expect(await echo(staged, staged.client.callbacks.verify(9, new Secret('canary-verifier')))).not.toContain(
      'canary-verifier',
    );
    expect(
      await echo(staged, staged.client.callbacks.register('bill_vendor', 'https://x.example/canary')),
    ).not.toContain('x.example');
  });
});
