/** A backup, and a new machine: what a runbook promises of copies of the mirror and the secrets. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ask } from '../../support/mirror-file.ts';
import { watched, until } from '../../support/testbed/daemon-process.ts';
import { ended } from '../../support/testbed/program.ts';
import { program } from '../../support/testbed/build.ts';
import { testbed } from '../../support/testbed.ts';

it('a copy of the mirror and a backup of the secrets work on another machine: same callback, nothing registered, deliveries accepted', async () => {
  const world = await testbed({ level: 'sandbox', vendors: 20 });
  const at = await testbed({ level: 'program', service: world, listens: true, settings: 'sync: { lag: 0s }' });
  const callbacks = () => world.sandbox.callbacks(world.account).all();
  const daemon = await at.serve();
  await until(() => callbacks().some(({ verified }) => verified));
  await daemon.logged('complete');
  const before = callbacks();

  writeFileSync(join(at.folder, 'passphrase'), 'correct horse battery');
  const key = ['--passphrase-file', join(at.folder, 'passphrase')];
  const [copy, sealed] = [join(at.folder, 'copy.db'), join(at.folder, 'secrets.sealed')];
  for (const command of [
    ['export', copy],
    ['secrets', 'export', sealed, ...key],
  ])
    expect((await at.run(...command)).status).toBe(0);
  await daemon.end('SIGKILL');

  const elsewhere = join(at.folder, 'elsewhere');
  mkdirSync(elsewhere);
  const settings = join(elsewhere, 'mirror.yaml');
  const moved = readFileSync(join(at.folder, 'mirror.yaml'), 'utf8').replaceAll(
    new RegExp(`${at.folder}/(vendors|secrets).db`, 'g'),
    `${elsewhere}/$1.db`,
  );
  writeFileSync(settings, moved);
  const run = (...argv: string[]) => at.execute(process.execPath, program, ...argv, '-c', settings);
  const imported = await ended(run('secrets', 'import', sealed, ...key));
  expect(imported.status, imported.stderr).toBe(0);
  renameSync(copy, join(elsewhere, 'vendors.db'));

  const restored = watched(run('serve'));
  await restored.logged('"msg":"serving"');
  // It is a copy from before, which is swept at once.
  await restored.logged('reconcile complete');
  const [vendor] = world.sandbox.vendors(world.account).all();
  const heard = (): unknown[] =>
    ask(join(elsewhere, 'vendors.db'), `SELECT 1 FROM vendors WHERE city = 'Elsewhere' AND source = 'delivery'`);
  world.sandbox.vendors(world.account).edit(Number(vendor!['vendorid']), { city: 'Elsewhere' });
  await until(() => heard().length > 0);
  expect(await restored.end(), restored.stderr()).toBe(0);
  expect(callbacks()).toEqual(before);
  expect(ask(join(elsewhere, 'secrets.db'), 'SELECT count(*) AS n FROM registrations')).toEqual([{ n: 1 }]);
});
