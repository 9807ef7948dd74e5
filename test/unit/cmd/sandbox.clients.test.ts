/** What clients of other people ask of the sandbox in their first hour. */
import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { allScopes, profileRead, vendorsRead } from '../../../src/sandbox/core/access.ts';
import { listen } from '../../support/network/listen.ts';
import { testbed } from '../../support/testbed.ts';
import type { SandboxTestbedOptions } from '../../support/testbed/sandbox.ts';
import { callbacksPath, gatewaysPath, vendorsPath } from '../../support/testbed/service.ts';

interface Said {
  readonly status: number;
  readonly location: string | null;
  readonly json: {
    readonly access_token: string;
    readonly refresh_token: string;
    readonly scope: string;
    readonly error: string;
    readonly response: {
      readonly result: {
        readonly total: number;
        readonly page: number;
        readonly per_page: number;
        readonly callbacks: readonly { readonly uri: string }[];
        readonly bill_vendors: readonly { readonly vis_state: number }[];
        readonly callback: { readonly callbackid: number };
        readonly deliveries: readonly object[];
      };
    };
  };
}

async function opened(options: SandboxTestbedOptions = {}) {
  const { baseUrl, token, sandbox } = await testbed({ level: 'sandbox', vendors: 40, ...options });
  const ask = async (method: string, path: string, body?: object, more: Record<string, string> = {}): Promise<Said> => {
    const answer = await fetch(baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...more },
      redirect: 'manual',
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    const isJson = answer.headers.get('content-type') === 'application/json';
    return {
      status: answer.status,
      location: answer.headers.get('location'),
      json: (isJson ? JSON.parse(text) : undefined) as Said['json'],
    };
  };
  return { ask, token, baseUrl, sandbox };
}

const client = { client_id: 'mine', client_secret: 'hush' };
const redirect_uri = 'https://app.example/back';

/** What a person's consent leads to. */
async function consented({ ask }: Awaited<ReturnType<typeof opened>>, more: Readonly<Record<string, string>> = {}) {
  const asked = { response_type: 'code', client_id: 'mine', redirect_uri, decision: 'allow', state: 's', ...more };
  const { location, status } = await ask('POST', '/auth/oauth/authorize', asked);
  return { status, back: location === null ? new URLSearchParams() : new URL(location).searchParams };
}

describe('L50 a client of somebody else, on the sandbox', () => {
  it('is told who it is, and reads one callback', async () => {
    const { ask } = await opened({ fetch: undefined });
    const me = await ask('GET', '/auth/api/v1/users/me');
    // The official client of Node.js reads these of every business, and fails where one is missing.
    const business = { account_id: '6BApk', address: null, phone_number: null, business_clients: [] };
    expect(me.json.response).toMatchObject({ business_memberships: [{ business }, {}], roles: [{ userid: 1 }, {}] });
    const callback = { event: 'bill_vendor', uri: 'http://127.0.0.1:1/' };
    const { callbackid } = (await ask('POST', callbacksPath, { callback })).json.response.result.callback;
    const { json } = await ask('GET', `${callbacksPath}/${callbackid}`);
    expect(json.response.result.callback).toMatchObject({ callbackid, verified: false });
  });

  it.each([
    ['first', { page: 1, per_page: 15 }],
    ['422', undefined],
  ] as const)('asks for page 0: %s', async (pageZero, numbers) => {
    const { ask } = await opened({ world: { pageZero } });
    for (const path of [vendorsPath, callbacksPath, gatewaysPath]) {
      const { status, json } = await ask('GET', `${path}?page=0`);
      if (numbers) expect(json.response.result).toMatchObject(numbers);
      else expect(status).toBe(422);
    }
  });

  it.each([
    ['per_page', 'page=2&per_page=7', 'p=3&limit=9&size=9'],
    ['limit', 'page=2&limit=7', 'p=3&per_page=9&size=9'],
    ['size', 'p=2&size=7', 'page=3&per_page=9&limit=9'],
  ] as const)('names its paging parameters as in the world pageNames=%s', async (pageNames, known, unknown) => {
    const { ask } = await opened({ world: { pageNames } });
    expect((await ask('GET', `${vendorsPath}?${unknown}&${known}`)).json.response.result).toMatchObject({
      page: 2,
      per_page: 7,
    });
    expect((await ask('GET', `${vendorsPath}?${unknown}`)).json.response.result).toMatchObject({
      page: 1,
      per_page: 15,
    });
  });

  const forms = { search: 'search[NAME]', filter: 'filter[NAME]', plain: 'NAME' } as const;

  it.each(['search', 'filter', 'plain', 'any'] as const)(
    'filters as in the world filterForm=%s',
    async (filterForm) => {
      const { ask, sandbox } = await opened({ world: { filterForm } });
      for (const port of [1, 2]) sandbox.callbacks('6BApk').add(0, 'bill_vendor', `http://127.0.0.1:${port}/`);
      const [{ vendorid } = { vendorid: 0 }] = sandbox.vendors('6BApk').all();
      sandbox.vendors('6BApk').delete(Number(vendorid));
      for (const [form, name] of Object.entries(forms)) {
        const isKnown = filterForm === 'any' || filterForm === form;
        const of = (field: string, value: string) => `${name.replace('NAME', field)}=${encodeURIComponent(value)}`;
        const { callbacks } = (await ask('GET', `${callbacksPath}?${of('uri', 'http://127.0.0.1:2/')}`)).json.response
          .result;
        expect(callbacks).toHaveLength(isKnown ? 1 : 2);
        const { bill_vendors: rows } = (await ask('GET', `${vendorsPath}?${of('vis_state', '1')}`)).json.response
          .result;
        expect(rows.every(({ vis_state }) => vis_state === 1)).toBe(isKnown);
      }
    },
  );

  it.each([
    ['systems/gateways', [200, 404, 404]],
    ['system/gateways', [404, 200, 404]],
    ['systems/gateway', [404, 404, 200]],
    ['any', [200, 200, 200]],
  ] as const)('finds gateways as in the world gatewayPath=%s', async (gatewayPath, statuses) => {
    const { ask, sandbox } = await opened({ world: { gatewayPath } });
    const paths = ['systems/gateways', 'system/gateways', 'systems/gateway'];
    const listed = await Promise.all(
      paths.map((path) => ask('GET', gatewaysPath.replace('systems/gateways', path)).then(({ status }) => status)),
    );
    expect(listed).toEqual(statuses);
    const [{ sgid } = { sgid: 0 }] = sandbox.gateways('6BApk').all();
    const known = paths[statuses.lastIndexOf(200)]!;
    expect((await ask('DELETE', `${gatewaysPath.replace('systems/gateways', known)}/${String(sgid)}`)).status).toBe(
      200,
    );
  });

  it.each([
    ['204', '200'],
    ['200', '204'],
  ] as const)('deletes gateways with %s and callbacks with %s', async (deletedGateway, deletedCallback) => {
    const { ask, sandbox } = await opened({ world: { deletedGateway, deletedCallback } });
    const [{ sgid } = { sgid: 0 }] = sandbox.gateways('6BApk').all();
    const { id } = sandbox.callbacks('6BApk').add(0, 'bill_vendor', 'http://127.0.0.1:1/');
    const gateway = await ask('DELETE', `${gatewaysPath}/${String(sgid)}`);
    const callback = await ask('DELETE', `${callbacksPath}/${id}`);
    expect([String(gateway.status), String(callback.status)]).toEqual([deletedGateway, deletedCallback]);
  });

  it('sees what was delivered to it, with what it answered, and what was not', async () => {
    const signed: string[] = [];
    let status = 410;
    const hook = createServer(({ headers }, response) => {
      signed.push(...Object.keys(headers).filter((name) => name.startsWith('x-')));
      response.writeHead(status).end();
    });
    const uri = `http://127.0.0.1:${await listen(hook)}/hook`;
    const world = { handshakeWhen: 'before', signatureHeader: 'X-FreshBooks-Hmac-SHA256' } as const;
    const { ask } = await opened({ world, fetch: undefined });
    const register = async (address: string, event: string): Promise<number> => {
      const { json } = await ask('POST', callbacksPath, { callback: { event, uri: address } });
      return json.response.result.callback.callbackid;
    };
    const one = await register(uri, 'bill_vendor');
    status = 200;
    const two = await register(uri, 'bill');
    const three = await register('http://10.0.0.7/', 'bill');
    const path = '/sandbox/account/6BApk/deliveries';
    const { deliveries, total } = (await ask('GET', path)).json.response.result;
    expect(total).toBe(3);
    const common = { kind: 'verification', event: 'callback.verify', attempt: 1, at: expect.any(String) as string };
    expect(deliveries).toEqual([
      {
        ...common,
        ...{ callbackid: three, object_id: three, uri: 'http://10.0.0.7/', outcome: 'failed', status: null },
        problem: expect.stringContaining('10.0.0.7 does not resolve to this machine') as string,
      },
      { ...common, callbackid: two, object_id: two, uri, outcome: 'acknowledged', status: 200, problem: null },
      { ...common, callbackid: one, object_id: one, uri, outcome: 'failed', status: 410, problem: null },
    ]);
    const only = (await ask('GET', `${path}?callbackid=${two}&per_page=1`)).json.response.result;
    expect(only).toMatchObject({ total: 1, per_page: 1, deliveries: [{ callbackid: two }] });
    expect((await ask('POST', path, {})).status).toBe(405);
    expect((await ask('GET', path, undefined, { authorization: '' })).status).toBe(401);
    expect(new Set(signed)).toEqual(new Set(['x-freshbooks-hmac-sha256']));
  });

  const known = { id: 'mine', secret: 'hush' };

  it('gets the scopes that it asks for, and no other', async () => {
    const at = await opened();
    const scope = `${profileRead} ${vendorsRead}`;
    const { back } = await consented(at, { scope });
    const code = { grant_type: 'authorization_code', code: back.get('code')!, redirect_uri, ...client };
    const { json } = await at.ask('POST', '/auth/oauth/token', code);
    expect(json.scope).toBe(scope);
    const bearer = { authorization: `Bearer ${json.access_token}` };
    expect((await at.ask('GET', vendorsPath, undefined, bearer)).status).toBe(200);
    expect((await at.ask('GET', gatewaysPath, undefined, bearer)).status).toBe(403);

    const refresh = { grant_type: 'refresh_token', refresh_token: json.refresh_token, ...client };
    const more = await at.ask('POST', '/auth/oauth/token', { ...refresh, scope: 'user:bill_vendors:write' });
    expect([more.status, more.json.error]).toEqual([400, 'invalid_scope']);
    const less = await at.ask('POST', '/auth/oauth/token', { ...refresh, scope: vendorsRead });
    expect(less.json.scope).toBe(vendorsRead);
    const again = { ...refresh, refresh_token: less.json.refresh_token };
    expect((await at.ask('POST', '/auth/oauth/token', again)).json.scope).toBe(scope);

    const wrong = await consented(at, { scope: 'user:everything' });
    expect([wrong.status, wrong.back.get('error'), wrong.back.get('state')]).toEqual([302, 'invalid_scope', 's']);
    const all = await consented(at);
    const every = await at.ask('POST', '/auth/oauth/token', { ...code, code: all.back.get('code')! });
    expect(every.json.scope.split(' ')).toEqual(allScopes);
  });

  it.each([undefined, known])('has to keep to its id and secret, where the sandbox knows %j', async (only) => {
    const at = await opened({ client: only });
    const { back } = await consented(at);
    const code = { grant_type: 'authorization_code', code: back.get('code')!, redirect_uri };
    const { json } = await at.ask('POST', '/auth/oauth/token', { ...code, ...client });
    const refresh = { grant_type: 'refresh_token', refresh_token: json.refresh_token };
    const others = [
      [{ client_id: 'mine', client_secret: 'wrong' }, 'invalid_client'],
      [{ client_id: 'mine' }, 'invalid_client'],
      [{ client_id: 'other', client_secret: 'hush' }, only ? 'invalid_client' : 'invalid_grant'],
      [{}, only ? 'invalid_client' : 'invalid_grant'],
    ] as const;
    for (const [other, error] of others) {
      const refused = await at.ask('POST', '/auth/oauth/token', { ...refresh, ...other });
      expect([refused.status, refused.json.error]).toEqual([error === 'invalid_client' ? 401 : 400, error]);
      const revoked = await at.ask('POST', '/auth/oauth/revoke', { token: json.refresh_token, ...other });
      expect(revoked.json.error).toBe('invalid_client');
    }
    const basic = { authorization: `Basic ${Buffer.from('mine:hush').toString('base64')}` };
    expect((await at.ask('POST', '/auth/oauth/token', refresh, basic)).status).toBe(200);
    expect((await consented(at, { client_id: 'other' })).status).toBe(only ? 400 : 302);
  });

  it('revokes tokens of both kinds, whether they are known or not', async () => {
    const at = await opened({ refreshToken: 'first' });
    const { json } = await at.ask('POST', '/auth/oauth/token', {
      grant_type: 'refresh_token',
      refresh_token: 'first',
      ...client,
    });
    const bearer = { authorization: `Bearer ${json.access_token}` };
    expect((await at.ask('GET', vendorsPath, undefined, bearer)).status).toBe(200);
    for (const token of [json.access_token, json.refresh_token, 'unknown', json.access_token])
      expect((await at.ask('POST', '/auth/oauth/revoke', { token, ...client })).status).toBe(200);
    expect((await at.ask('GET', vendorsPath, undefined, bearer)).status).toBe(401);
    const again = { grant_type: 'refresh_token', refresh_token: json.refresh_token, ...client };
    expect((await at.ask('POST', '/auth/oauth/token', again)).json.error).toBe('invalid_grant');
    expect((await at.ask('GET', '/auth/oauth/revoke')).status).toBe(405);
  });
});
