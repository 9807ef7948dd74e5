import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { testbed, type Testbed } from '../../../support/testbed.ts';
import { vendorsPath } from '../../../support/testbed/service.ts';

interface Pair {
  readonly access_token: string;
  readonly refresh_token: string;
}

const fixture = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../../fixtures/${name}`, import.meta.url), 'utf8')) as object;

const refresh = async ({ ask }: Testbed<'service'>, refresh_token: string) => {
  const { status, text } = await ask('POST', '/auth/oauth/token', { grant_type: 'refresh_token', refresh_token });
  return { status, json: JSON.parse(text) as Pair };
};

const read = async ({ ask }: Testbed<'service'>, token: string) =>
  (await ask('GET', vendorsPath, undefined, { authorization: `Bearer ${token}` })).status;

describe('refreshing tokens', () => {
  it('gives a new pair, as captured', async () => {
    const service = await testbed({ level: 'service', refreshToken: 'once' });
    const { status, json } = await refresh(service, 'once');
    expect(status).toBe(200);
    expect(Object.keys(json)).toEqual(Object.keys(fixture('token-refresh-response.json')));
    expect(await read(service, json.access_token)).toBe(200);
  });

  it('works once for each refresh token, and continues with the new one', async () => {
    const service = await testbed({ level: 'service', refreshToken: 'once' });
    const first = await refresh(service, 'once');
    const again = await refresh(service, 'once');
    expect([again.status, again.json]).toEqual([400, fixture('token-refresh-invalid-grant.json')]);
    expect((await refresh(service, first.json.refresh_token)).status).toBe(200);
  });

  it('gives access for twelve hours', async () => {
    const service = await testbed({ level: 'service', refreshToken: 'once' });
    const { json } = await refresh(service, 'once');
    await service.clock.advance(43_199_000);
    expect(await read(service, json.access_token)).toBe(200);
    await service.clock.advance(1_000);
    expect(await read(service, json.access_token)).toBe(401);
  });

  it('accepts a form too, and only a refresh token by POST', async () => {
    const { sandbox, ask } = await testbed({ level: 'service', refreshToken: 'once' });
    const form = Buffer.from('grant_type=refresh_token&refresh_token=once');
    const request = {
      method: 'POST',
      path: '/auth/oauth/token',
      query: new URLSearchParams(),
      headers: {},
      body: form,
    };
    expect((await sandbox.handle(request)).status).toBe(200);
    expect((await sandbox.handle({ ...request, method: 'GET' })).status).toBe(405);
    expect((await ask('POST', '/auth/oauth/token', { grant_type: 'password' })).status).toBe(400);
    const broken = { ...request, headers: { 'content-type': 'application/json' }, body: Buffer.from('{') };
    expect((await sandbox.handle(broken)).status).toBe(400);
  });
});
