import { expect, it, vi } from 'vitest';
import { SqliteDatabase } from '../../../src/store/sqlite/database.ts';
import { account } from '../../support/testbed/store.ts';
import { testbed } from '../../support/testbed.ts';

it('K21 K45 the intent to write is on disk before anything is sent, and survives a power cut', async () => {
  const { mirror } = await testbed({ level: 'store' });
  const quick = vi.spyOn(SqliteDatabase.prototype, 'writeWithoutSync');
  await mirror.writes.beginCreation(account, 'Acme', null);
  await mirror.writes.beginEdit(account, { vendorid: 5, fields: ['city'], by: null, delay: 0 });
  expect(quick).not.toHaveBeenCalled();
  quick.mockRestore();
});
