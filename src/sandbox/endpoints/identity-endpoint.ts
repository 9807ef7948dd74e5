/** Who a token is, and which accounts it opens: the only place where the service tells the ids of accounts. */
import { requireScope, profileRead, type Grant } from '../core/access.ts';
import { unsupported, type Reply } from '../core/reply.ts';
import type { World } from '../core/worlds.ts';

export const identityPath = '/auth/api/v1/users/me';

/** @throws Refusal for another method than GET, and without the scope. */
export function answerIdentity(method: string, grant: Grant, accounts: readonly string[], world: World): Reply {
  if (method !== 'GET') throw unsupported(method, ['GET']);
  requireScope(grant, profileRead);
  const opened = accounts.filter((account) => grant.accounts?.has(account) ?? true);
  const isNull = world.accountIds === 'roles';
  return {
    status: 200,
    payload: {
      response: {
        id: 2_192_788,
        first_name: 'Jo',
        last_name: 'Doe',
        email: 'jo@example.com',
        ...{ phone_numbers: [], addresses: [], groups: [], profession: null },
        ...{ links: {}, permissions: {}, subscription_statuses: {} },
        business_memberships: opened.map((account, index) => ({
          id: 168_372 + index,
          role: 'owner',
          business: {
            id: 77_128 + index,
            name: `Business ${account}`,
            account_id: isNull ? null : account,
            ...{ address: null, phone_number: null, business_clients: [] },
          },
        })),
        roles: opened.map((account, index) => ({
          id: 682_349 + index,
          role: 'admin',
          systemid: 1,
          userid: 1,
          accountid: account,
          created_at: '2020-10-09T15:25:05Z',
          links: {},
        })),
      },
    },
  };
}
