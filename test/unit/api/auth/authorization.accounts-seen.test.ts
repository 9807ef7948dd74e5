/** Which accounts a token sees, in whatever form the service tells it. */
import { expect, it } from 'vitest';
import { accountsSeen } from '../../../../src/api/auth/authorization.ts';
import { Secret } from '../../../../src/domain/secret.ts';
import { html, json } from '../../../support/network/service-answers.ts';
import { testbed } from '../../../support/testbed.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const asked = (answer: Response) =>
  accountsSeen('https://api.example.com/', new Secret('canary'), {
    clock: virtualClock(),
    timeout: 1_000,
    fetch: (url, { headers }) => {
      expect([url.href, headers['authorization']]).toEqual([
        'https://api.example.com/auth/api/v1/users/me',
        'Bearer canary',
      ]);
      return Promise.resolve(answer);
    },
  });

it.each<[string, object, object[]]>([
  [
    'of businesses, and a business without one by its role',
    {
      business_memberships: [
        { business: { account_id: 'aaa', name: 'A' } },
        { business: { account_id: null, name: 'B' } },
        null,
      ],
      roles: [{ accountid: 'bbb' }, { accountid: 'aaa' }, { accountid: null }, 7],
    },
    [
      { account: 'aaa', business: 'A' },
      { account: 'bbb', business: null },
    ],
  ],
  ['of a membership itself', { business_memberships: [{ account_id: 'aaa' }] }, [{ account: 'aaa', business: null }]],
  ['of clients', { business_clients: [{ account_id: 'aaa', name: 'A' }] }, [{ account: 'aaa', business: 'A' }]],
  ['of nothing', { business_memberships: {}, roles: null }, []],
])('L43 the accounts that a token sees are those %s', async (_, person, expected) => {
  expect(await asked(json({ response: person }))).toEqual(expected);
  expect(await asked(json(person))).toEqual(expected);
});

it.each<[string, Response, string]>([
  ['without the scope', json({ error: 'access_denied', error_description: 'no' }, 403), 'access_denied'],
  ['with an unknown token', json({ error: 'unauthenticated' }, 401), 'unauthenticated'],
  ['where the service has no such address', html(404), 'not_found'],
  ['by a page of a proxy', html(200), 'answer_unreadable'],
])('L43 the accounts that a token sees are not told %s', async (_, answer, code) => {
  await expect(asked(answer)).rejects.toMatchObject({ code });
});

it.each(['businesses', 'roles'] as const)('L43 the sandbox tells its accounts by %s', async (accountIds) => {
  const { baseUrl, token } = await testbed({ level: 'sandbox', vendors: 1, world: { accountIds } });
  const { clock, timeout, fetch } = { clock: virtualClock(), timeout: 60_000, fetch: globalThis.fetch };
  const seen = await accountsSeen(baseUrl, new Secret(token), { clock, timeout, fetch });
  expect(seen.map(({ account }) => account)).toEqual(['6BApk', 'other']);
});
