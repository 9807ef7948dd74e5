import { describe, expect, it } from 'vitest';
import { eventNames } from '../../../../src/sandbox/core/access.ts';
import { account } from '../../../support/names.ts';
import { testbed, type Testbed } from '../../../support/testbed.ts';
import { callbacksPath, type CallbackRow } from '../../../support/testbed/service.ts';

const uri = 'https://mirror.example/hook';

async function register({ ask }: Testbed<'service'>, event = 'bill_vendor', to = uri): Promise<CallbackRow> {
  return (await ask('POST', callbacksPath, { callback: { event, uri: to } })).json.response.result.callback;
}

const put = ({ ask }: Testbed<'service'>, id: number, callback: object) =>
  ask('PUT', `${callbacksPath}/${id}`, { callback });

const list = async ({ get }: Testbed<'service'>, query = ''): Promise<readonly CallbackRow[]> =>
  (await get(`${callbacksPath}?${query}`)).json.response.result.callbacks;

const code = ({ sandbox }: Testbed<'service'>, id: number): string => sandbox.callbacks(account).get(id)!.verifier;

describe('states of a callback', () => {
  it('none → unverified: registering sends a code and the callback id to the uri', async () => {
    const service = await testbed({ level: 'service' });
    const { callbackid, id, verified } = await register(service);
    expect([id, verified]).toEqual([callbackid, false]);
    expect(service.arrivals).toEqual([]);
    await service.clock.advance(1_000);
    const [arrival] = service.arrivals;
    expect(arrival).toMatchObject({ uri, headers: { 'content-type': 'application/x-www-form-urlencoded' } });
    expect(Object.fromEntries(arrival!.form)).toMatchObject({
      name: 'callback.verify',
      object_id: String(callbackid),
      account_id: account,
      verifier: expect.stringMatching(/^[A-Za-z0-9]{30,34}$/) as string,
    });
    expect([...arrival!.form.keys()].sort()).toEqual([
      'account_id',
      'name',
      'object_id',
      'system',
      'user_id',
      'verifier',
    ]);
  });

  it('unverified → verified: only the code that was sent does it', async () => {
    const service = await testbed({ level: 'service' });
    const { callbackid } = await register(service);
    expect((await put(service, callbackid, { verifier: 'wrong' })).status).toBe(422);
    expect(await list(service)).toMatchObject([{ verified: false }]);
    const told = await put(service, callbackid, { verifier: code(service, callbackid) });
    expect([told.status, told.json.response.result.callback.verified]).toEqual([200, true]);
  });

  it('any → unverified: resend sends a new code', async () => {
    const service = await testbed({ level: 'service' });
    const id = await service.subscribe();
    const old = code(service, id);
    const told = await put(service, id, { resend: true });
    expect(told.json.response.result.callback.verified).toBe(false);
    await service.clock.advance(1_000);
    expect(service.arrivals[0]?.form.get('verifier')).toBe(code(service, id));
    expect((await put(service, id, { verifier: old })).status).toBe(422);
  });

  it('any → removed', async () => {
    const service = await testbed({ level: 'service' });
    const id = await service.subscribe();
    expect((await service.ask('DELETE', `${callbacksPath}/${id}`)).json).toEqual({ response: {} });
    expect(await list(service)).toEqual([]);
    expect((await put(service, id, { resend: true })).status).toBe(404);
  });

  it('a code that is not acknowledged is sent again', async () => {
    const service = await testbed({ level: 'service' });
    service.answerWith(500);
    await register(service);
    await service.clock.advance(16_000);
    expect(service.arrivals).toHaveLength(2);
  });
});

describe('registering', () => {
  it('takes every event, and every noun alone', async () => {
    const service = await testbed({ level: 'service' });
    const nouns = [...new Set(eventNames.map((event) => event.split('.')[0]!))];
    expect(nouns).toHaveLength(15);
    expect(eventNames).toHaveLength(47);
    for (const event of [...eventNames, ...nouns]) expect(await register(service, event)).toMatchObject({ event });
  });

  it.each(['bill_vendor.sendByEmail', 'vendor.create', 'toString', ''])('refuses the event %j', async (event) => {
    expect(
      (await (await testbed({ level: 'service' })).ask('POST', callbacksPath, { callback: { event, uri } })).status,
    ).toBe(422);
  });

  it('needs the scope of the event', async () => {
    const service = await testbed({ level: 'service' });
    service.sandbox.access.grant('a-token', ['user:bill_vendors:read']);
    expect((await service.ask('POST', callbacksPath, { callback: { event: 'invoice', uri } })).status).toBe(403);
    expect((await service.ask('POST', callbacksPath, { callback: { event: 'bill_vendor', uri } })).status).toBe(200);
  });

  it('of the same event and uri twice is refused, or a second one in world duplicate=second', async () => {
    const twice = async (service: Testbed<'service'>) => {
      await register(service);
      return service.ask('POST', callbacksPath, { callback: { event: 'bill_vendor', uri } });
    };
    expect((await twice(await testbed({ level: 'service' }))).status).toBe(422);
    const service = await testbed({ level: 'service', world: ['duplicate=second'] });
    expect((await twice(service)).status).toBe(200);
    expect(await list(service)).toHaveLength(2);
  });
});

describe('listing callbacks', () => {
  it('filters by event and its noun, by uri, and by verified', async () => {
    const service = await testbed({ level: 'service' });
    const verified = await service.subscribe('bill_vendor.create');
    for (const event of ['bill_vendor.update', 'bill.create', 'bill_vendor']) await register(service, event);
    await register(service, 'bill_vendor', `${uri}/other`);
    const events = async (query: string) => (await list(service, query)).map(({ event }) => event);
    expect(await events('search[event]=bill_vendor.create')).toEqual(['bill_vendor.create']);
    const all = ['bill_vendor.create', 'bill_vendor.update', 'bill_vendor', 'bill_vendor'];
    expect(await events('search[event]=bill_vendor')).toEqual(all);
    expect(await events('search[event]=bill_vendors')).toEqual(all);
    expect(await list(service, `search[uri]=${uri}/other`)).toHaveLength(1);
    expect(await list(service, 'search[verified]=true')).toMatchObject([{ callbackid: verified }]);
    expect(await list(service, 'search[verified]=false')).toHaveLength(4);
  });

  it('D11 comes in pages', async () => {
    const service = await testbed({ level: 'service' });
    for (const event of eventNames.slice(0, 20)) await register(service, event);
    expect(await list(service)).toHaveLength(15);
    expect(await list(service, 'page=2')).toHaveLength(5);
    expect(await list(service, 'per_page=100')).toHaveLength(20);
  });
});

describe('worlds of callbacks', () => {
  it('D1 handshakeWhen=before sends the code before the answer', async () => {
    const service = await testbed({ level: 'service', world: ['handshakeWhen=before'] });
    await register(service);
    expect(service.arrivals).toHaveLength(1);
  });

  it('D4 handshakeForm=json', async () => {
    const service = await testbed({ level: 'service', world: ['handshakeForm=json', 'handshakeWhen=before'] });
    const { callbackid } = await register(service);
    const [arrival] = service.arrivals;
    expect(arrival?.headers['content-type']).toBe('application/json');
    expect(JSON.parse(arrival!.body)).toMatchObject({ name: 'callback.verify', object_id: String(callbackid) });
  });

  it('handshakeSigned=yes, no', async () => {
    for (const [world, signed] of [
      ['yes', true],
      ['no', false],
    ] as const) {
      const service = await testbed({ level: 'service', world: [`handshakeSigned=${world}`, 'handshakeWhen=before'] });
      await register(service);
      expect('X-Service-Hmac-SHA256' in service.arrivals[0]!.headers).toBe(signed);
    }
  });

  it('D3 wrongVerifier=unverified answers 200 and stays unverified', async () => {
    const service = await testbed({ level: 'service', world: ['wrongVerifier=unverified'] });
    const { callbackid } = await register(service);
    const told = await put(service, callbackid, { verifier: 'wrong' });
    expect([told.status, told.json.response.result.callback.verified]).toEqual([200, false]);
  });

  it('deletedCallback=204', async () => {
    const service = await testbed({ level: 'service', world: ['deletedCallback=204'] });
    const { callbackid } = await register(service);
    const told = await service.ask('DELETE', `${callbacksPath}/${callbackid}`);
    expect([told.status, told.text]).toEqual([204, '']);
  });

  it('callbackTime=plain', async () => {
    const service = await testbed({ level: 'service', world: ['callbackTime=plain'] });
    await register(service);
    expect(await list(service)).toMatchObject([{ updated_at: '2026-01-15 12:00:00' }]);
  });

  it('apiVersion=required', async () => {
    const service = await testbed({ level: 'service', world: ['apiVersion=required'] });
    expect((await service.get(callbacksPath)).status).toBe(400);
    expect((await service.ask('GET', callbacksPath, undefined, { 'api-version': 'alpha' })).status).toBe(200);
  });
});
