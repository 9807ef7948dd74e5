/** An account that was taken out of the settings. */
import { expect, it } from 'vitest';
import { account } from '../../support/names.ts';
import { testbed } from '../../support/testbed.ts';

it('K12 an account that was removed from the settings counts as unverified, and the start says how to delete its callback', async () => {
  const at = await testbed({ level: 'daemon' });
  const verified = () =>
    at.query(
      'SELECT account_id, callback_verified, not_served_since IS NULL AS served FROM freshness ORDER BY account_id',
    );
  const { callbackid } = at.query<{ callbackid: number }>('SELECT callbackid FROM callbacks')[0]!;
  expect(verified()).toEqual([{ account_id: account, callback_verified: 1, served: 1 }]);
  await at.reopen({ accounts: ['Other'] });
  expect(verified()).toEqual([
    { account_id: account, callback_verified: 0, served: 0 },
    { account_id: 'Other', callback_verified: null, served: 1 },
  ]);
  expect(at.log.map(({ msg }) => msg)).toContainEqual(
    expect.stringContaining(`\`vendor-mirror callbacks delete ${callbackid} --account ${account}\``),
  );
});
