/** The file of a mirror without its journal, as a copy, a sync folder or the mount of a single file shows it. */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ask } from '../../support/mirror-file.ts';
import { testbed } from '../../support/testbed.ts';
import { until } from '../../support/testbed/daemon-process.ts';

it('L31 the mirror of a small account, copied without its journal beside a daemon, has what was there a minute ago', async () => {
  const at = await testbed({ level: 'daemon', vendors: 60 });
  const copy = join(at.folder, 'copy.db');
  const names = (): string[] => {
    copyFileSync(at.settings.database, copy);
    return ask<{ name: string }>(copy, 'SELECT vendor_name AS name FROM vendors ORDER BY vendorid').map(
      ({ name }) => name,
    );
  };
  await at.clock.advance(60_000);
  await until(() => names().length === 60);
  const [id] = ask<{ id: number }>(copy, 'SELECT vendorid AS id FROM vendors').map((row) => row.id);
  at.sandbox.vendors('6BApk').edit(id!, { vendor_name: 'Renamed' });
  await at.untilQuiet();
  await at.clock.advance(60_000);
  await until(() => names().includes('Renamed'));
  expect(names()).toHaveLength(60);
});
