/** A daemon whose lock beside the mirror was removed, so that another one could start; and one whose files were written over. */
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import { copyFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { vendorOf } from '../../../src/api/wire/vendor-fields.ts';
import { systemRandom } from '../../../src/domain/clock.ts';
import { openSecrets } from '../../../src/store/secrets/secrets.ts';
import { fileClock as clock, migrations, newPath, otherConnection, writeMirror } from '../../support/mirror-file.ts';
import { account } from '../../support/names.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

/** Every row of every table. */
function contentOf(path: string): Record<string, unknown[]> {
  const sqlite = new Driver(path, { readonly: true });
  const names = sqlite.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").pluck();
  const content = Object.fromEntries(
    names.all().map((name) => [name, sqlite.prepare(`SELECT * FROM "${name}"`).all()]),
  );
  sqlite.close();
  return content;
}

const contents = ({ settings: { database, secrets } }: Testbed<'daemon'>) => [contentOf(database), contentOf(secrets)];

/** Another daemon begins on the same files, as far as they can tell. */
function takeOver(at: Testbed<'daemon'>): Promise<void> {
  rmSync(`${at.settings.database}.lock`);
  return at.beside(async ({ mirror, secrets }) => {
    const { epoch, left } = await mirror.place.beginDaemon(secrets.path);
    await secrets.beginDaemon(epoch, left);
  });
}

describe('F8 a daemon whose files another daemon has taken over', () => {
  it('commits nothing any more, whether it receives deliveries, sweeps, prunes or stops, and exits with 75', async () => {
    const at = await testbed({ level: 'daemon' });
    const vendors = at.sandbox.vendors(account);
    const answers: (number | undefined)[] = [];
    at.sandbox.onDelivery(({ status }) => answers.push(status));
    await takeOver(at);
    const before = contents(at);
    vendors.edit(Number(vendors.listed()[0]!['vendorid']), { vendor_name: 'Renamed Ltd.' });
    await at.clock.pass(3 * 3_600_000);
    await at.stop();
    expect(contents(at)).toEqual(before);
    expect([answers.length > 0, answers.includes(200)]).toEqual([true, false]);
    expect(at.fatal).toMatchObject([{ code: 'already_running', exit: 75 }]);
  });

  it('notices it within a minute even if it has nothing to write', async () => {
    const at = await testbed({ level: 'daemon' });
    await takeOver(at);
    await at.clock.pass(60_000);
    expect(at.fatal).toMatchObject([{ code: 'already_running', exit: 75 }]);
  });

  it('registers no callback any more', async () => {
    const at = await testbed({ level: 'daemon' });
    await takeOver(at);
    expect(await registrations(at)).toEqual([]);
  });
});

/** Another mirror, whole and of this version. */
async function otherMirror(): Promise<string> {
  const path = newPath();
  await writeMirror(path, clock, {});
  return path;
}

/** Secrets of another mirror. */
async function otherSecrets(): Promise<string> {
  const path = join(dirname(newPath()), 'secrets.db');
  const secrets = await openSecrets({ path, migrations, clock, random: systemRandom });
  await secrets.place.claim({ mirrorId: 'another', path: '/elsewhere/vendors.db' });
  await secrets.close();
  return path;
}

/** The same file as it was before this daemon began. */
async function olderCopy(path: string, at: Testbed<'daemon'>): Promise<string> {
  await at.stop();
  const copy = join(dirname(newPath()), 'copy.db');
  copyFileSync(path, copy);
  await at.reopen();
  await at.start();
  await at.untilRuns();
  await at.untilQuiet();
  return copy;
}

/** Requests that register a callback, when one is missing at the service and the daemon looks after it. */
async function registrations(at: Testbed<'daemon'>): Promise<string[]> {
  const callbacks = at.sandbox.callbacks(account);
  for (const { id } of callbacks.all()) callbacks.remove(id);
  at.requests.length = 0;
  await at.daemon.use(at.settings);
  await at.clock.pass(2_000);
  return at.requests.filter((request) => request.startsWith('POST'));
}

describe('K25 a file that is overwritten while the daemon has it open', () => {
  it.each<['database' | 'secrets', string, (at: Testbed<'daemon'>) => Promise<string>]>([
    ['database', 'another mirror', otherMirror],
    ['secrets', 'another mirror’s secrets', otherSecrets],
    ['database', 'secrets', otherSecrets],
    ['secrets', 'a mirror', otherMirror],
    ['database', 'an older copy', (at) => olderCopy(at.settings.database, at)],
    ['secrets', 'an older copy', (at) => olderCopy(at.settings.secrets, at)],
  ])('%s with %s: the daemon ends with 74 within a minute, and registers nothing before', async (which, _, make) => {
    const at = await testbed({ level: 'daemon' });
    const other = await make(at);
    await at.clock.pass(60_000);
    expect(at.fatal).toEqual([]);
    copyFileSync(other, at.settings[which]);
    expect(await registrations(at)).toEqual([]);
    await at.clock.pass(58_000);
    expect(at.fatal).toMatchObject([
      {
        code: 'database_unusable',
        exit: 74,
        message: `${at.settings[which]} was overwritten with another file while it was in use.`,
      },
    ]);
  });

  it('is noticed by the check of each minute, even if nothing is to be registered', async () => {
    const at = await testbed({ level: 'daemon' });
    copyFileSync(await otherSecrets(), at.settings.secrets);
    await at.clock.pass(60_000);
    expect(at.fatal).toMatchObject([{ code: 'database_unusable', exit: 74 }]);
  });

  // What stands in the journal is found whatever the file was overwritten with.
  it.each<[string, (mirror: Testbed<'store'>['mirror']) => Promise<unknown>]>([
    ['was adopted by its service', (mirror) => mirror.adoptService('https://api.example.com')],
    ['was given to another service', (mirror) => mirror.acceptService('https://other.example.com')],
    ['was derived by newer rules', (mirror) => mirror.derivation.renew(vendorOf)],
  ])('is noticed at once although the mirror %s since the daemon began', async (_, change) => {
    const { mirror } = await testbed({ level: 'store' });
    await mirror.place.beginDaemon('/elsewhere/secrets.db');
    await change(mirror);
    copyFileSync(await otherMirror(), mirror.path);
    expect(() => mirror.place.assertOurs()).toThrow('was overwritten');
  });

  it('is noticed although a reader held the journal when the daemon began', async () => {
    const { mirror } = await testbed({ level: 'store' });
    const reader = otherConnection(mirror.path);
    reader.exec('BEGIN; SELECT * FROM mirror_identity');
    await mirror.place.beginDaemon('/elsewhere/secrets.db');
    mirror.place.assertOurs();
    reader.exec('COMMIT');
    mirror.place.assertOurs();
    copyFileSync(await otherMirror(), mirror.path);
    expect(() => mirror.place.assertOurs()).toThrow('was overwritten');
  });
});

it('a callback that is missing at the service is registered anew while the files are the daemon’s own', async () => {
  const at = await testbed({ level: 'daemon' });
  expect(await registrations(at)).toHaveLength(1);
});
