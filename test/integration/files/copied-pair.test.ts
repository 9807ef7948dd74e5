/** Mirror and secrets that an operator copied to another folder, as the runbook says. */
import { cpSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { account } from '../../support/names.ts';
import { someVendor } from '../../support/testbed/daemon.ts';
import { testbed } from '../../support/testbed.ts';

it('K47 a copied pair continues at its new place with the same callbacks; with the secrets of another mirror it is refused', async () => {
  const at = await testbed({ level: 'daemon' });
  const [mirror, secrets] = [at.settings.database, at.settings.secrets];
  const callbacks = (): unknown => at.query('SELECT callbackid, uri, verified FROM callbacks ORDER BY callbackid');
  const before = callbacks();
  await at.stop();
  const place = join(at.folder, 'new');
  mkdirSync(place);
  for (const path of [mirror, secrets]) cpSync(path, join(place, basename(path)));
  const database = join(place, basename(mirror));
  await at.reopen({ database, secrets: join(place, basename(secrets)) });
  at.requests.length = 0;
  await at.start();
  at.sandbox.vendors(account).edit(someVendor(at), { city: 'Heard' });
  await at.clock.until('it is heard', () => at.query(`SELECT 1 FROM vendors WHERE city = 'Heard'`).length > 0);
  expect(at.query(`SELECT source FROM vendors WHERE city = 'Heard'`)).toEqual([{ source: 'delivery' }]);
  expect(callbacks()).toEqual(before);
  expect(at.requests.filter((request) => request.startsWith('POST'))).toEqual([]);

  const other = at.reopen({ database: join(at.folder, 'other.db'), secrets: join(place, basename(secrets)) });
  await expect(other).rejects.toThrow(`${join(place, basename(secrets))} belongs to another mirror, ${database}.`);
});
