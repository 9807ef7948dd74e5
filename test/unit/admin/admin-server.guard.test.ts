import { describe, expect, it } from 'vitest';
import { systemClock, type Clock } from '../../../src/domain/clock.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { startAdmin } from '../../support/admin/admin-requests.ts';
import { noon } from '../../support/admin/sample.ts';

const token = 'canary-4f1c9b';
/** Those who send a wrong token need not wait. */
const quick: Clock = { ...systemClock, now: () => noon, timer: (_ms, run) => systemClock.timer(0, run) };
const missing = ['/nosuchpage', '/api/nosuch'];
const all = ['/', '/page.css', '/page.js', '/icon.svg', '/metrics', '/api/status', '/readyz', ...missing];
const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

describe('rebound names', () => {
  it.each([
    'evil.example',
    'evil.example:8788',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '192.168.1.7',
    'x@127.0.0.1',
    '127.0.0.1/',
  ])('H6 Host %o is refused everywhere with 421 and nothing else', async (host) => {
    const { ask } = await startAdmin();
    for (const path of [...all, '/healthz']) {
      const { status, body } = await ask(path, { host });
      expect([path, status, body]).toEqual([
        path,
        421,
        expect.stringMatching(/^This host name is not allowed\..*admin\.publicUrl/),
      ]);
    }
  });

  it('H6 two Host headers are refused, in either order', async () => {
    const { ask } = await startAdmin();
    for (const hosts of [
      ['127.0.0.1', 'evil.example'],
      ['evil.example', '127.0.0.1'],
    ])
      expect(
        (
          await ask(
            '/',
            hosts.flatMap((host) => ['Host', host]),
          )
        ).status,
      ).toBe(421);
  });

  it.each(['localhost', 'LOCALHOST:8788', '127.0.0.1:8788', '127.0.0.2', '[::1]:8788'])(
    'this machine under its name %s is answered',
    async (host) => {
      const { ask } = await startAdmin();
      expect((await ask('/', { host })).status).toBe(200);
    },
  );

  it('K52 the name of admin.publicUrl is answered, and no other', async () => {
    const { ask } = await startAdmin({ publicUrl: 'https://books.example/mirror' });
    expect((await ask('/', { host: 'books.example' })).status).toBe(200);
    expect((await ask('/', { host: 'evil.example' })).status).toBe(421);
  });

  it('on an address beyond this machine any host name is accepted, and the token decides', async () => {
    const { ask } = await startAdmin({ host: '0.0.0.0', token: new Secret(token) });
    const host = 'mirror.internal:8788';
    expect((await ask('/', { host, authorization: `Bearer ${token}` })).status).toBe(200);
    expect((await ask('/', { host })).status).toBe(401);
  });
});

describe('pages of other sites', () => {
  it.each([
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
  ])('H6 are refused: %o', async (headers) => {
    const { ask } = await startAdmin();
    for (const path of all) expect([path, (await ask(path, headers)).status]).toEqual([path, 403]);
  });

  it.each([
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
  ])('do not include the dashboard itself, a typed address and a followed link: %o', async (headers) => {
    const { ask } = await startAdmin();
    expect((await ask('/', headers)).status).toBe(200);
  });

  it('H6 no answer lets another site read it, run in it or frame it', async () => {
    const { ask } = await startAdmin();
    for (const path of [...all, '/healthz']) {
      const { headers } = await ask(path, { origin: 'https://evil.example' });
      expect(headers['access-control-allow-origin']).toBeUndefined();
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-origin',
      });
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
    }
  });
});

describe('the token', () => {
  it('H6 gives access to everything, as a bearer token or as the password of any user', async () => {
    const { ask } = await startAdmin({ token: new Secret(token) });
    for (const path of all)
      for (const authorization of [`Bearer ${token}`, `bearer ${token}`, basic('', token), basic('operator', token)])
        expect([path, (await ask(path, { authorization })).status]).toEqual([path, missing.includes(path) ? 404 : 200]);
  });

  it.each([
    undefined,
    '',
    'Bearer',
    'Bearer canary-4f1c9',
    'Bearer canary-4f1c9bb',
    `Bearer ${token} ${token}`,
    `Digest ${token}`,
    token,
    'Basic !!!',
    basic(token, ''),
    basic('', `${token} `),
    'Bearer \u00e9\u00e9\u00e9',
  ])('H6 is required: %o is answered with 401', async (authorization) => {
    const { ask } = await startAdmin({ token: new Secret(token) }, undefined, quick);
    for (const path of all) {
      const { status, body, headers } = await ask(path, authorization === undefined ? {} : { authorization });
      expect([path, status, body]).toEqual([path, 401, expect.stringMatching(/^admin\.token is required/)]);
      expect(headers['www-authenticate']).toMatch(/^Basic realm=/);
    }
  });

  it('is not required by /healthz, which says only that the process is alive', async () => {
    const { ask } = await startAdmin({ token: new Secret(token) });
    expect(await ask('/healthz')).toMatchObject({ status: 200, body: 'alive\n' });
  });

  it('H6 never appears in an answer', async () => {
    const { ask } = await startAdmin({ token: new Secret(token) });
    for (const path of all) {
      const { body, headers } = await ask(path, { authorization: `Bearer ${token}` });
      expect(body + JSON.stringify(headers)).not.toContain('canary');
    }
  });
});
