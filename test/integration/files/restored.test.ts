/** A mirror that an operator put back from an old copy. */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { activeDifferences } from '../../support/mirror/differences.ts';
import { account } from '../../support/names.ts';
import { isFresh } from '../../support/testbed/daemon.ts';
import { testbed } from '../../support/testbed.ts';

it('F12 is not called fresh before it was swept; then it equals the source and handles deliveries', async () => {
  const at = await testbed({ level: 'daemon' });
  const supervisor = at.sandbox.vendors(account);
  const [first, second, third] = supervisor.all().map(({ vendorid }) => Number(vendorid));
  const backup = join(at.folder, 'backup.db');
  await at.stop();
  copyFileSync(at.settings.database, backup);

  await at.reopen();
  await at.start();
  supervisor.edit(first!, { city: 'After the copy' });
  supervisor.delete(second!);
  await at.clock.pass(5 * 3_600_000);
  expect(await isFresh(at)).toBe(true);

  await at.stop();
  copyFileSync(backup, at.settings.database);
  await at.reopen();
  at.sandbox.faults.next({ kind: 'hang', match: ({ path }) => path.endsWith('/bill_vendors') });
  await at.start();
  await at.clock.pass(1_000);
  expect(await isFresh(at)).toBe(false);
  await at.clock.until('it was swept', () => isFresh(at));
  await at.untilQuiet();
  expect(activeDifferences(at)).toEqual([]);

  supervisor.edit(third!, { city: 'Heard' });
  await at.clock.until('it is heard', () => at.query(`SELECT 1 FROM vendors WHERE city = 'Heard'`).length > 0);
  expect(at.query(`SELECT source FROM vendors WHERE city = 'Heard'`)).toEqual([{ source: 'delivery' }]);
});
