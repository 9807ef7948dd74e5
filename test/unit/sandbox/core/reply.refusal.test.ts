/** How the service refuses, in the form of each of its parts, and what it answers to browsers. */
import { describe, expect, it } from 'vitest';
import { account } from '../../../support/names.ts';
import { testbed } from '../../../support/testbed.ts';
import { callbacksPath, gatewaysPath, vendorsPath } from '../../../support/testbed/service.ts';

const accounting = { response: { errors: [expect.objectContaining({ errno: expect.any(Number) as unknown })] } };
const events = { errno: expect.any(Number) as unknown, message: expect.any(String) as unknown };
const auth = { error: expect.any(String) as unknown, error_description: expect.any(String) as unknown };

describe('errors are of the family of their path', () => {
  it.each([
    ['/accounting/account/6BApk/nowhere', accounting],
    ['/', accounting],
    ['/events/account/6BApk/nowhere', events],
    ['/events', events],
    ['/auth/oauth/nowhere', auth],
  ])('404 of %s', async (path, form) => {
    const { status, json } = await (await testbed({ level: 'service' })).get(path);
    expect([status, json]).toEqual([404, form]);
  });

  it.each([
    [vendorsPath, accounting],
    [callbacksPath, events],
    ['/auth/oauth/token', auth],
  ])('403 and 429 of %s', async (path, form) => {
    const { sandbox, get } = await testbed({ level: 'service' });
    for (const [kind, expected] of [
      ['403', 403],
      ['429', 429],
    ] as const) {
      sandbox.faults.next({ kind });
      const { status, json } = await get(path);
      expect([status, json]).toEqual([expected, form]);
    }
  });

  it('429 of a rate that is used up', async () => {
    const { get } = await testbed({ level: 'service', rateLimits: { all: 0, callbacks: 0, windowSeconds: 60 } });
    expect((await get(callbacksPath)).json).toEqual(events);
    expect((await get(vendorsPath)).json).toEqual(accounting);
  });
});

describe('405 names the methods that are allowed', () => {
  it.each([
    ['PATCH', vendorsPath, [], 'GET, POST'],
    ['DELETE', `${vendorsPath}/1`, [], 'GET, PUT'],
    ['GET', `${vendorsPath}/1`, ['readOne=405'], 'PUT'],
    ['POST', gatewaysPath, [], 'GET'],
    ['GET', `${gatewaysPath}/1`, [], 'DELETE'],
    ['PUT', callbacksPath, [], 'GET, POST'],
    ['GET', `${callbacksPath}/1`, ['readCallback=405'], 'PUT, DELETE'],
    ['POST', `${callbacksPath}/1`, [], 'GET, PUT, DELETE'],
    ['GET', '/auth/oauth/token', [], 'POST'],
  ])('%s %s in %j', async (method, path, world, allow) => {
    const { status, headers } = await (await testbed({ level: 'service', world })).ask(method, path);
    expect([status, headers['allow']]).toEqual([405, allow]);
  });
});

it('a browser may ask without a token what it is allowed to send', async () => {
  const preflight = { authorization: '', origin: 'https://app.example', 'access-control-request-method': 'PUT' };
  const { status, headers, text } = await (
    await testbed({ level: 'service', cors: true })
  ).ask('OPTIONS', `${vendorsPath}/1`, undefined, preflight);
  expect([status, text]).toEqual([204, '']);
  expect(headers).toMatchObject({
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET, PUT',
    'access-control-allow-headers': 'Authorization, Content-Type, Api-Version',
  });
  expect((await (await testbed({ level: 'service' })).ask('OPTIONS', '/nowhere')).status).toBe(404);
});

describe('worlds of single points', () => {
  it.each([
    ['405', 405],
    ['yes', 200],
  ])('readCallback=%s', async (value, status) => {
    const service = await testbed({ level: 'service', world: [`readCallback=${value}`] });
    const id = await service.subscribe();
    const told = await service.get(`${callbacksPath}/${id}`);
    expect(told.status).toBe(status);
    if (status === 200) expect(told.json.response.result.callback).toMatchObject({ callbackid: id, verified: true });
  });

  it.each([
    ['state', { vis_state: 2, city: null }, ['bill_vendor.update']],
    ['all', { vis_state: 2, city: 'Oslo' }, ['bill_vendor.update']],
  ])('editState=%s', async (value, expected, told) => {
    const service = await testbed({ level: 'service', world: [`editState=${value}`], vendors: 1 });
    await service.subscribe();
    const [{ vendorid } = { vendorid: 0 }] = service.sandbox.vendors(account).all();
    service.sandbox.vendors(account).edit(Number(vendorid), { city: null });
    await service.clock.advance(1_000);
    service.arrivals.length = 0;
    const { json } = await service.ask('PUT', `${vendorsPath}/${String(vendorid)}`, {
      bill_vendor: { vis_state: 2, city: 'Oslo' },
    });
    expect(json.response.result.bill_vendor).toMatchObject(expected);
    await service.clock.advance(1_000);
    expect(service.arrivals.map(({ form }) => form.get('name'))).toEqual(told);
  });

  it('attempts, retryAfter and retryGrowth: how often and when a delivery is tried', async () => {
    const service = await testbed({ level: 'service', world: ['attempts=3', 'retryAfter=2', 'retryGrowth=10'] });
    await service.subscribe();
    service.answerWith(500);
    const begun = service.clock.now();
    service.sandbox.emit(account, 'bill_vendor.update', 1);
    await service.clock.advance(60_000);
    const tried = service.sandbox.deliveries().filter(({ kind }) => kind === 'event');
    expect(tried.map(({ at, outcome }) => [at - begun, outcome])).toEqual([
      [0, 'failed'],
      [2_000, 'failed'],
      [22_000, 'dropped'],
    ]);
  });
});

describe('tokens', () => {
  it('have the lifetime and the scopes that they are given', async () => {
    const service = await testbed({
      level: 'service',
      tokenLifetime: 60,
      scopes: ['user:bill_vendors:read'],
      refreshToken: 'once',
    });
    expect((await service.get(vendorsPath)).status).toBe(200);
    expect((await service.get(gatewaysPath)).status).toBe(403);
    await service.clock.advance(60_000);
    expect((await service.get(vendorsPath)).status).toBe(401);
    const { text } = await service.ask('POST', '/auth/oauth/token', {
      grant_type: 'refresh_token',
      refresh_token: 'once',
    });
    const pair = JSON.parse(text) as { access_token: string };
    expect(pair).toMatchObject({ expires_in: 60, scope: 'user:bill_vendors:read' });
    const read = async (path: string) =>
      (await service.ask('GET', path, undefined, { authorization: `Bearer ${pair.access_token}` })).status;
    expect([await read(vendorsPath), await read(gatewaysPath)]).toEqual([200, 403]);
    await service.clock.advance(60_000);
    expect(await read(vendorsPath)).toBe(401);
  });
});
