import { describe, expect, it } from 'vitest';
import { account } from '../../../support/names.ts';
import { testbed } from '../../../support/testbed.ts';
import { callbacksPath, gatewaysPath, vendorsPath, type ServiceAnswer } from '../../../support/testbed/service.ts';

const errnoOf = ({ json }: ServiceAnswer): number => json.response.errors[0].errno;
const vendor = { bill_vendor: { vendor_name: 'A', language: 'en' } };

describe('tokens and scopes', () => {
  it.each([undefined, 'Bearer wrong', 'Basic a-token', 'a-token'])(
    '401 for authorization %s',
    async (authorization) => {
      const { sandbox } = await testbed({ level: 'service' });
      const headers = { authorization };
      const request = {
        method: 'GET',
        path: vendorsPath,
        query: new URLSearchParams(),
        headers,
        body: new Uint8Array(),
      };
      expect((await sandbox.handle(request)).status).toBe(401);
    },
  );

  it.each([
    ['GET', vendorsPath, 'user:bill_vendors:read', 31001],
    ['POST', vendorsPath, 'user:bill_vendors:write', 1038],
    ['GET', gatewaysPath, 'user:online_payments:read', 1003],
    ['DELETE', `${gatewaysPath}/1`, 'user:online_payments:write', 1003],
  ])('%s %s needs %s', async (method, path, scope, errno) => {
    const { sandbox, ask } = await testbed({ level: 'service' });
    const body = method === 'POST' ? vendor : undefined;
    sandbox.access.grant('a-token', []);
    const refused = await ask(method, path, body);
    expect([refused.status, errnoOf(refused)]).toEqual([403, errno]);
    sandbox.access.grant('a-token', [scope]);
    expect((await ask(method, path, body)).status).not.toBe(403);
  });

  it('world gatewayScope=read', async () => {
    const { sandbox, ask } = await testbed({ level: 'service', world: ['gatewayScope=read'] });
    sandbox.access.grant('a-token', ['user:online_payments:read']);
    expect((await ask('DELETE', `${gatewaysPath}/1`)).status).toBe(404);
  });

  it('another account, known or not, is refused', async () => {
    const { sandbox, get } = await testbed({ level: 'service', accounts: [account, 'other'] });
    sandbox.access.grant('a-token', undefined, [account]);
    for (const name of ['other', 'nobody']) expect((await get(vendorsPath.replace(account, name))).status).toBe(403);
    expect((await get(vendorsPath)).status).toBe(200);
  });

  it('A21 a token can expire', async () => {
    const { sandbox, get } = await testbed({ level: 'service' });
    sandbox.access.revoke('a-token');
    expect((await get(vendorsPath)).status).toBe(401);
  });
});

describe('what the service does not have', () => {
  it.each(['/', '/accounting', `${vendorsPath}/1/2`, gatewaysPath.replace('systems', 'system')])(
    '404 for %s',
    async (path) => {
      expect((await (await testbed({ level: 'service' })).get(path)).status).toBe(404);
    },
  );

  it.each([
    ['DELETE', `${vendorsPath}/1`],
    ['PATCH', vendorsPath],
    ['GET', `${gatewaysPath}/1`],
    ['POST', gatewaysPath],
    ['PUT', `${gatewaysPath}/1`],
    ['POST', `${callbacksPath}/1`],
  ])('405 for %s %s', async (method, path) => {
    expect((await (await testbed({ level: 'service' })).ask(method, path)).status).toBe(405);
  });
});

describe('worlds of errors', () => {
  const forms = async (form: string) => {
    const { get, ask } = await testbed({ level: 'service', world: [`errorForm=${form}`] });
    return [await get(`${vendorsPath}/1`), await ask('DELETE', `${callbacksPath}/1`)] as const;
  };

  it('accounting: each area in its own form', async () => {
    const [vendors, callbacks] = await forms('accounting');
    expect([errnoOf(vendors), callbacks.json.errno]).toEqual([1012, 404]);
  });

  it('events and rpc: all in one form', async () => {
    for (const told of await forms('events')) expect(told.json.errno).toBe(404);
    for (const told of await forms('rpc')) expect(told.json.details[0].reason).toBe('1012');
  });

  it('html: no JSON at all', async () => {
    for (const told of await forms('html'))
      expect([told.status, told.text]).toEqual([404, expect.stringMatching(/^<html>/)]);
  });

  it('in200: accounting errors have status 200', async () => {
    const [vendors, callbacks] = await forms('in200');
    expect([vendors.status, errnoOf(vendors), callbacks.status]).toEqual([200, 1012, 404]);
  });
});

describe('rate limits', () => {
  const rateLimits = { all: 3, callbacks: 1, windowSeconds: 60 };

  it('L99 world rateScope=token: are counted for all requests of a token, and those of callbacks and POSTs once more', async () => {
    const limits = { all: 5, post: 2, callbacks: 1, windowSeconds: 60 };
    const { get, ask, sandbox } = await testbed({
      level: 'service',
      accounts: [account, 'other'],
      rateLimits: limits,
    });
    const other = vendorsPath.replace(account, 'other');
    const posted = async (): Promise<number> => (await ask('POST', other, vendor)).status;
    expect([(await get(callbacksPath)).status, (await get(callbacksPath)).status]).toEqual([200, 429]);
    expect([await posted(), await posted(), await posted()]).toEqual([200, 200, 429]);
    expect([(await get(vendorsPath)).status, (await get(gatewaysPath)).status]).toEqual([200, 200]);
    expect([(await get(vendorsPath)).status, (await get(other)).status]).toEqual([429, 429]);
    sandbox.access.grant('of-somebody-else');
    const answer = await ask('GET', other, undefined, { authorization: 'Bearer of-somebody-else' });
    expect(answer.status).toBe(200);
  });

  it('world rateScope=account: are counted for each account and family separately', async () => {
    const { get } = await testbed({
      level: 'service',
      accounts: [account, 'other'],
      world: ['rateScope=account'],
      rateLimits,
    });
    const other = vendorsPath.replace(account, 'other');
    for (const path of [vendorsPath, gatewaysPath, vendorsPath, other, callbacksPath])
      expect((await get(path)).status).toBe(200);
    for (const path of [vendorsPath, gatewaysPath, callbacksPath]) expect((await get(path)).status).toBe(429);
    expect((await get(other)).status).toBe(200);
  });

  it('say on every answer how much is left and how long to wait', async () => {
    const { get, clock } = await testbed({ level: 'service', rateLimits });
    expect((await get(vendorsPath)).headers).toMatchObject({ 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': '2' });
    await clock.advance(20_000);
    for (let count = 0; count < 2; count += 1) await get(vendorsPath);
    expect((await get(vendorsPath)).headers).toMatchObject({ 'x-ratelimit-remaining': '0', 'retry-after': '40' });
  });

  it.each([
    ['fixed', 200],
    ['sliding', 429],
  ])('world rateWindow=%s', async (kind, status) => {
    const { get, clock } = await testbed({ level: 'service', world: [`rateWindow=${kind}`], rateLimits });
    await get(vendorsPath);
    await clock.advance(59_000);
    for (let count = 0; count < 2; count += 1) await get(vendorsPath);
    await clock.advance(1_000);
    expect((await get(vendorsPath)).status).toBe(200);
    expect((await get(vendorsPath)).status).toBe(status);
  });
});
