import { describe, expect, it } from 'vitest';
import { Secret } from '../../../../src/domain/secret.ts';
import { startAdmin, type Admin } from '../../../support/admin/admin-requests.ts';

const token = 'canary-4f1c9b';
const right = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };

async function armed(): Promise<Admin & { post: (name: string, body: unknown, headers?: object) => Promise<number> }> {
  const admin = await startAdmin({ token: new Secret(token) });
  const post = async (name: string, body: unknown, headers = {}): Promise<number> => {
    const sent = typeof body === 'string' ? body : JSON.stringify(body);
    return (await admin.ask(`/api/actions/${name}`, { ...right, ...headers }, 'POST', sent)).status;
  };
  return { ...admin, post };
}

describe('/api/actions', () => {
  it('requests the named action for the named account', async () => {
    const { post, asked } = await armed();
    expect(await post('sync', { account: '6BApk' })).toBe(202);
    expect(await post('reconcile', { account: 'other' })).toBe(202);
    expect(await post('retry', { account: '6BApk' })).toBe(202);
    expect(await post('approve', { account: '6BApk', absences: 40 })).toBe(202);
    expect(asked).toEqual([
      ['6BApk', 'pull'],
      ['other', 'reconcile'],
      ['6BApk', 'retry'],
      ['6BApk', 'reconcile', 40],
    ]);
  });

  it('describes what was done in a sentence', async () => {
    const { ask } = await armed();
    const { body } = await ask('/api/actions/retry', right, 'POST', '{"account":"6BApk"}');
    expect(JSON.parse(body)).toEqual({
      ok: true,
      action: 'retry',
      account: '6BApk',
      message: '3 vendors are read again now.',
    });
  });

  it('without a token in the settings is refused with 403, the reason, and what to do', async () => {
    const { ask, asked } = await startAdmin();
    for (const name of ['sync', 'reconcile', 'retry', 'approve']) {
      const { status, body } = await ask(`/api/actions/${name}`, { 'content-type': 'application/json' }, 'POST', '{}');
      expect([status, JSON.parse(body)]).toMatchObject([
        403,
        { error: 'no_token', message: expect.stringContaining('Set `admin.token`') as string },
      ]);
    }
    expect(asked).toEqual([]);
  });

  it('is refused without the right token, as a form, by GET, and from pages of other sites, however they send it', async () => {
    const { post, ask, asked, url } = await armed();
    const body = { account: '6BApk' };
    expect(await post('sync', body, { authorization: 'Bearer wrong' })).toBe(401);
    expect(await post('sync', 'account=6BApk', { 'content-type': 'application/x-www-form-urlencoded' })).toBe(415);
    expect(await post('sync', body, { 'content-type': 'text/plain' })).toBe(415);
    expect((await ask('/api/actions/sync', right)).status).toBe(405);
    expect(await post('sync', body, { origin: 'https://evil.example' })).toBe(403);
    expect(await post('sync', body, { origin: 'null' })).toBe(403);
    const followed = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    expect(await post('sync', body, { 'sec-fetch-site': 'cross-site', ...followed })).toBe(403);
    expect(await post('sync', body, { 'sec-fetch-site': 'same-site', ...followed })).toBe(403);
    expect(asked).toEqual([]);
    expect(await post('sync', body, { origin: url, 'sec-fetch-site': 'same-origin' })).toBe(202);
  });

  it.each([
    ['sync', '{', 'The body should be a JSON object.'],
    ['sync', '[]', 'The body should be a JSON object.'],
    ['sync', '{}', 'account should be one that this daemon serves, and that is not paused.'],
    ['sync', '{"account":"nobody"}', 'account should be one that this daemon serves, and that is not paused.'],
    ['sync', '{"account":"6BApk","absences":3}', 'The body should name account, and nothing else.'],
    ['retry', '{"account":"6BApk","vendor":3}', 'The body should name account, and nothing else.'],
    ['approve', '{"account":"6BApk"}', 'absences should be a whole number from 1: how many vendors may be gone.'],
    [
      'approve',
      '{"account":"6BApk","absences":0}',
      'absences should be a whole number from 1: how many vendors may be gone.',
    ],
    [
      'approve',
      '{"account":"6BApk","absences":"9"}',
      'absences should be a whole number from 1: how many vendors may be gone.',
    ],
  ])('%s with %s is a bad request: %s', async (name, body, message) => {
    const { ask, asked } = await armed();
    const answer = await ask(`/api/actions/${name}`, right, 'POST', body);
    expect([answer.status, JSON.parse(answer.body)]).toEqual([400, { error: 'bad_request', message }]);
    expect(asked).toEqual([]);
  });
});
