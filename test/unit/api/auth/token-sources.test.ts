import { mkdtemp, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type OAuthSettings, type TokenStore, tokenSource } from '../../../../src/api/auth/oauth-tokens.ts';
import type { TokenSource } from '../../../../src/api/auth/token-sources.ts';
import { Secret, type TokenPair } from '../../../../src/domain/secret.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';
import { network, intercept } from '../../../support/network/intercept.ts';
import { broken, fixture, html, json } from '../../../support/network/service-answers.ts';

const revealed = async (token: Promise<Secret | undefined>): Promise<string | undefined> => (await token)?.reveal();

const unused = {
  tokenStore: {
    load: () => Promise.reject(new Error('unused')),
    exclusively: () => Promise.reject(new Error('unused')),
  },
  dependencies: { clock: virtualClock(), timeout: 1_000, fetch: () => Promise.reject(new Error('unused')) },
};

describe('a token in the settings', () => {
  it('never changes', async () => {
    const source = tokenSource({ accessToken: new Secret('abc') }, unused.tokenStore, unused.dependencies);
    expect(await revealed(source.current())).toBe('abc');
    expect(await source.renew(new Secret('abc'))).toBeUndefined();
  });

  it('H8 is refused if no header can carry it, and is not shown in the error', () => {
    expect(() =>
      tokenSource({ accessToken: new Secret('can\r\nary') }, unused.tokenStore, unused.dependencies),
    ).toThrow(
      'The setting accessToken contains no usable access token: one line of visible ASCII without blanks is needed.',
    );
  });
});

it.each(['Bearer abc', 'bearer   abc', 'Authorization: Bearer abc'])(
  'L40 a token that was copied as “%s” is the token after it',
  async (copied) => {
    const source = tokenSource({ accessToken: new Secret(copied) }, unused.tokenStore, unused.dependencies);
    expect(await revealed(source.current())).toBe('abc');
  },
);

describe('a token in a file', () => {
  let folder: string;
  let path: string;
  let source: TokenSource;
  let minute = 0;

  const write = async (text: string): Promise<void> => {
    await writeFile(path, text);
    minute += 1;
    await utimes(path, minute * 60, minute * 60);
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'token-'));
    path = join(folder, 'token');
    source = tokenSource({ accessTokenFile: path }, unused.tokenStore, unused.dependencies);
  });

  afterEach(() => rm(folder, { recursive: true }));

  it('is trimmed, and read again when the file changes', async () => {
    await write(' abc\n');
    expect(await revealed(source.current())).toBe('abc');
    await write('abd');
    expect(await revealed(source.current())).toBe('abd');
  });

  it('A21 is read again after a 401, even if the file looks unchanged', async () => {
    await write('abc');
    await source.current();
    await writeFile(path, 'xyz');
    await utimes(path, minute * 60, minute * 60);
    expect(await revealed(source.current())).toBe('abc');
    expect(await revealed(source.renew(new Secret('abc')))).toBe('xyz');
    expect(await source.renew(new Secret('xyz'))).toBeUndefined();
    expect(await revealed(source.current())).toBe('xyz');
  });

  it('K49 is not read from a device', async () => {
    const { tokenStore, dependencies } = unused;
    await expect(
      tokenSource({ accessTokenFile: '/dev/zero' }, tokenStore, dependencies).current(),
    ).rejects.toMatchObject({
      code: 'token_unusable',
      message: 'The file of accessTokenFile cannot be read: it is not a regular file of at most 64 kB.',
    });
  });

  it('K49 is not read if the file is larger than any token', async () => {
    await write('abc');
    await truncate(path, 2 ** 41);
    await expect(source.current()).rejects.toMatchObject({
      code: 'token_unusable',
      message: expect.stringContaining('at most 64 kB') as string,
    });
  });

  it('is reported by file name if the file is missing or unusable', async () => {
    await expect(source.current()).rejects.toMatchObject({
      code: 'token_unusable',
      message: 'The file of accessTokenFile cannot be read: ENOENT.',
    });
    await write('two words');
    await expect(source.current()).rejects.toThrow(`The file ${path} contains no usable access token`);
  });
});

describe('OAuth tokens', () => {
  const service = 'https://api.service.example';
  const settings: OAuthSettings = {
    tokenUrl: `${service}/auth/oauth/token`,
    clientId: 'client-1',
    clientSecret: new Secret('canary-client-secret'),
    redirectUri: 'https://mirror.example/oauth',
    refreshToken: new Secret('seed'),
  };
  const hour = 3_600_000;

  const held = { signal: new AbortController().signal, assert: () => undefined };

  /** A token store in memory with the promises of the real one: one worker at a time, across all that share it. */
  function tokenStore(start?: TokenPair): TokenStore & { held: TokenPair | undefined; log: string[] } {
    let turn: Promise<unknown> = Promise.resolve();
    const self = {
      held: start,
      log: [] as string[],
      load: () => Promise.resolve(self.held),
      exclusively<T>(work: Parameters<TokenStore['exclusively']>[0]): Promise<T> {
        const run = turn.then(() =>
          work(
            self.held,
            (pair) => {
              self.held = pair;
              self.log.push(`saved ${pair.refresh.reveal()}`);
              return Promise.resolve();
            },
            held,
          ),
        );
        turn = run.catch(() => undefined);
        return run as Promise<T>;
      },
    };
    return self;
  }

  const pair = (name: string, expiresAt: number): TokenPair => ({
    access: new Secret(`access-${name}`),
    refresh: new Secret(`refresh-${name}`),
    expiresAt,
  });

  /** A token endpoint whose refresh tokens work once. */
  function endpoint(valid: string, changes: Partial<Record<'expires_in' | 'refresh_token', unknown>> = {}) {
    const clock = virtualClock();
    const asked: URLSearchParams[] = [];
    let current = valid;
    const reachable = { now: true };
    intercept(service, ({ method, url, body }) => {
      if (!reachable.now) return broken('ECONNREFUSED');
      if (method !== 'POST' || url.href !== settings.tokenUrl) return json({}, 404);
      const form = new URLSearchParams(body as string);
      asked.push(form);
      if (form.get('refresh_token') !== current) return json(fixture('token-refresh-invalid-grant'), 400);
      current = `refresh-${asked.length}`;
      const answer = JSON.parse(fixture('token-refresh-response')) as Record<string, unknown>;
      return json({ ...answer, access_token: `access-${asked.length}`, refresh_token: current, ...changes });
    });
    return { clock, asked, reachable, dependencies: { clock, fetch: network, timeout: 1_000 } };
  }

  const source = (kept: TokenStore, dependencies: Parameters<typeof tokenSource>[2]): TokenSource =>
    tokenSource({ oauth: settings }, kept, dependencies);

  it('start from the refresh token of the settings', async () => {
    const { asked, dependencies, clock } = endpoint('seed');
    const kept = tokenStore();
    expect(await revealed(source(kept, dependencies).current())).toBe('access-1');
    expect(Object.fromEntries(asked[0]!)).toEqual({
      grant_type: 'refresh_token',
      client_id: 'client-1',
      client_secret: 'canary-client-secret',
      refresh_token: 'seed',
      redirect_uri: 'https://mirror.example/oauth',
    });
    expect(kept.held).toMatchObject({ expiresAt: clock.now() + 12 * hour });
  });

  it('are stored durably before their first use', async () => {
    const { dependencies } = endpoint('seed');
    const kept = tokenStore();
    const used = (await source(kept, dependencies).current()).reveal();
    expect([...kept.log, `used ${used}`]).toEqual(['saved refresh-1', 'used access-1']);
  });

  it('are neither used nor lost if they cannot be stored', async () => {
    const { asked, dependencies } = endpoint('seed');
    const kept = tokenStore();
    let full = true;
    const tokens = source(
      {
        ...kept,
        exclusively: (work) =>
          kept.exclusively((pair, save, hold) =>
            work(pair, full ? () => Promise.reject(new Error('disk full')) : save, hold),
          ),
      },
      dependencies,
    );
    await expect(tokens.current()).rejects.toThrow('disk full');
    full = false;
    expect(await revealed(tokens.current())).toBe('access-1');
    expect(kept.log).toEqual(['saved refresh-1']);
    expect(asked).toHaveLength(1);
  });

  it('are renewed shortly before they expire, once for all concurrent callers', async () => {
    const { asked, dependencies, clock } = endpoint('refresh-a');
    const kept = tokenStore(pair('a', clock.now() + hour));
    let locks = 0;
    const counted: TokenStore = {
      ...kept,
      exclusively: (work) => {
        locks += 1;
        return kept.exclusively(work);
      },
    };
    const tokens = source(counted, dependencies);
    expect(await revealed(tokens.current())).toBe('access-a');
    await clock.advance(hour - 61_000);
    expect(await revealed(tokens.current())).toBe('access-a');
    await clock.advance(1_000);
    const all = await Promise.all([1, 2, 3].map(() => revealed(tokens.current())));
    expect(all).toEqual(['access-1', 'access-1', 'access-1']);
    expect([asked.length, locks]).toEqual([1, 1]);
  });

  it('A21 are renewed after a 401, unless another caller has already done so', async () => {
    const { asked, dependencies, clock } = endpoint('refresh-a');
    const kept = tokenStore(pair('a', clock.now() + hour));
    const [mine, other] = [source(kept, dependencies), source(kept, dependencies)];
    const rejected = await mine.current();
    await other.current();
    expect(await revealed(mine.renew(rejected))).toBe('access-1');
    expect(await revealed(mine.renew(rejected))).toBe('access-1');
    expect(await revealed(other.renew(rejected))).toBe('access-1');
    expect(asked).toHaveLength(1);
  });

  it('are refreshed with one request when two processes renew at once', async () => {
    const { asked, dependencies } = endpoint('seed');
    const kept = tokenStore();
    const all = await Promise.all(
      [source(kept, dependencies), source(kept, dependencies)].map((tokens) => revealed(tokens.current())),
    );
    expect(all).toEqual(['access-1', 'access-1']);
    expect(asked).toHaveLength(1);
  });

  it('are looked up in the store again after invalid_grant, before giving up', async () => {
    const { dependencies, clock } = endpoint('nothing works');
    const kept = tokenStore(pair('old', clock.now() - hour));
    const newer = pair('newer', clock.now() + hour);
    const tokens = source(
      {
        ...kept,
        load: () => Promise.resolve(newer),
        exclusively: (work) => work(kept.held, () => Promise.resolve(), held),
      },
      dependencies,
    );
    expect(await revealed(tokens.renew(new Secret('access-old')))).toBe('access-newer');
  });

  it('fall back to the refresh token of the settings after invalid_grant, because a person may have set a new one', async () => {
    const { asked, dependencies, clock } = endpoint('seed');
    const tokens = source(tokenStore(pair('dead', clock.now() - hour)), dependencies);
    expect(await revealed(tokens.current())).toBe('access-2');
    expect(asked.map((form) => form.get('refresh_token'))).toEqual(['refresh-dead', 'seed']);
  });

  it('are not requested again after a final refusal', async () => {
    const { asked, dependencies } = endpoint('nothing works');
    const tokens = source(tokenStore(), dependencies);
    await expect(tokens.current()).rejects.toMatchObject({
      code: 'token_refresh_failed',
      message: 'The token endpoint refused the refresh token: invalid_grant.',
    });
    // The cause is still named.
    await expect(tokens.current()).rejects.toMatchObject({
      message: expect.stringContaining('invalid_grant') as string,
    });
    expect(asked).toHaveLength(1);
  });

  it.each([
    ['invalid_grant', /vendor-mirror login/],
    ['invalid_client', /clientId and clientSecret/],
    ['invalid_scope', /scopes/],
    ['unauthorized_client', /Allow this application/],
  ])('L40 are refused with %s: the remedy is of that cause', async (error, remedy) => {
    const { dependencies } = endpoint('seed');
    const tokens = source(tokenStore(), { ...dependencies, fetch: () => Promise.resolve(json({ error }, 400)) });
    await expect(tokens.current()).rejects.toMatchObject({
      code: 'token_refresh_failed',
      hint: expect.stringMatching(remedy) as string,
    });
  });

  it.each([
    ['500', json({}, 500), 'service_unavailable'],
    ['429', json({}, 429), 'service_unavailable'],
    ['HTML', html(), 'answer_unreadable'],
    ['a token that no header carries', json({ access_token: 'can\r\nary', token_type: 'bearer' }), 'answer_unreadable'],
    ['no token', json({ token_type: 'bearer', refresh_token: 'canary' }), 'answer_unreadable'],
    ['a redirect', new Response(null, { status: 302, headers: { location: 'https://evil.example/' } }), 'redirected'],
    ['invalid_client', json({ error: 'invalid_client' }, 401), 'token_refresh_failed'],
    [
      '401 by header',
      new Response(null, { status: 401, headers: { 'www-authenticate': 'Basic realm="x"' } }),
      'token_refresh_failed',
    ],
  ])('P6 contain no secret in the error when the endpoint answers %s', async (_, answer, code) => {
    intercept(service, () => answer);
    const tokens = source(tokenStore(), { clock: virtualClock(), timeout: 1_000, fetch: network });
    const error: unknown = await tokens.current().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code });
    expect(`${String(error)} ${JSON.stringify(error)} ${String((error as Error).cause)}`).not.toMatch(/canary|seed/);
  });

  it('can be requested later with the same refresh token if the endpoint is unreachable', async () => {
    const { dependencies, reachable } = endpoint('seed');
    reachable.now = false;
    const tokens = source(tokenStore(), dependencies);
    await expect(tokens.current()).rejects.toMatchObject({ code: 'service_unreachable' });
    reachable.now = true;
    expect(await revealed(tokens.current())).toBe('access-1');
  });

  it('with an implausibly short lifetime are not refreshed before every request', async () => {
    const { asked, dependencies } = endpoint('seed', { expires_in: 1 });
    const tokens = source(tokenStore(), dependencies);
    for (let turn = 0; turn < 5; turn += 1) await tokens.current();
    expect(asked).toHaveLength(1);
  });

  /** Whatever JSON can hold, and what an endpoint may send in place of a lifetime, a list of scopes or a token. */
  const anything = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom('', ' ', '3600', '-1', 'soon', -1, 0, 0.5, 9e15, 1e308, '9e15', 'canary.canary.canary', []),
  );
  const oddities = fc.record(
    {
      expires_in: anything,
      scope: anything,
      token_type: anything,
      id_token: anything,
      direct_buy_tokens: anything,
      created_at: anything,
      error: anything,
    },
    { requiredKeys: [] },
  );
  const statuses = fc.constantFrom(200, 201, 202, 203);
  const types = fc.constantFrom('application/json', 'text/html', 'application/x-www-form-urlencoded', '');

  /** An endpoint that answers each refresh with these answers in turn, and refuses all refresh tokens but the newest. */
  function answering(
    ...answers: readonly { body: string; status?: number; type?: string }[]
  ): Parameters<typeof tokenSource>[2] {
    let sent = 0;
    return {
      clock: virtualClock(),
      timeout: 1_000,
      fetch: () => {
        const { body, status = 200, type = 'application/json' } = answers[sent] ?? answers.at(-1)!;
        sent += 1;
        return Promise.resolve(new Response(body, { status, headers: { 'content-type': type } }));
      },
    };
  }

  it('L39 L63 are stored and used, whatever else the answer contains, numbers beyond dates among it', async () => {
    await fc.assert(
      fc.asyncProperty(oddities, statuses, types, async (odd, status, type) => {
        const body = JSON.stringify({ ...odd, access_token: 'access-1', refresh_token: 'refresh-1' });
        const kept = tokenStore();
        const dependencies = answering({ body, status, type });
        const tokens = source(kept, dependencies);
        expect(await revealed(tokens.current())).toBe('access-1');
        expect(kept.held?.refresh.reveal()).toBe('refresh-1');
        const lifetime = kept.held!.expiresAt - dependencies.clock.now();
        expect(lifetime).toBeGreaterThanOrEqual(120_000);
        expect(lifetime).toBeLessThanOrEqual(366 * 24 * hour);
      }),
    );
  });

  it('L39 without a usable access token: the new refresh token is stored, and is the next that is sent', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc
          .oneof(fc.jsonValue(), fc.constant('can\r\nary'))
          .filter((value) => typeof value !== 'string' || /\s/.test(value.trim())),
        oddities,
        async (access_token, odd) => {
          const kept = tokenStore();
          const good = JSON.stringify({ access_token: 'access-2', refresh_token: 'refresh-2' });
          const dependencies = answering(
            { body: JSON.stringify({ ...odd, access_token, refresh_token: 'refresh-1' }) },
            { body: good },
          );
          const tokens = source(kept, dependencies);
          await expect(tokens.current()).rejects.toMatchObject({
            code: 'answer_unreadable',
            message:
              'The token endpoint answered without a usable access_token. Its refresh token is stored, and is used next.',
          });
          expect(kept.log).toEqual(['saved refresh-1']);
          expect(await revealed(tokens.current())).toBe('access-2');
        },
      ),
    );
  });

  it.each([
    ['HTML', () => html(), 'The token endpoint answered with status 200 and no usable tokens.'],
    [
      'half an answer',
      () => json('{"access_token":"can'),
      'The token endpoint answered with status 200 and no usable tokens.',
    ],
    ['500', () => json({}, 500), 'The token endpoint answered with status 500.'],
  ])('L39 are refused after %s was the answer to the same refresh token: both are named', async (_, first, cause) => {
    let sent = 0;
    const tokens = source(tokenStore(), {
      clock: virtualClock(),
      timeout: 1_000,
      fetch: () => Promise.resolve(sent++ === 0 ? first() : json(fixture('token-refresh-invalid-grant'), 400)),
    });
    await expect(tokens.current()).rejects.toThrow(cause);
    for (let again = 0; again < 2; again += 1)
      await expect(tokens.current()).rejects.toMatchObject({
        code: 'token_refresh_failed',
        message: `The token endpoint refused the refresh token: invalid_grant. It was sent before, without a usable answer: ${cause}`,
      });
  });

  it('keep their refresh token if the answer contains no new one', async () => {
    const { dependencies } = endpoint('seed', { refresh_token: undefined });
    const kept = tokenStore();
    await source(kept, dependencies).current();
    expect(kept.held?.refresh.reveal()).toBe('seed');
  });
});
