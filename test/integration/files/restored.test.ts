/** A mirror that an operator put back from an old copy: deliveries since then were acknowledged, and do not come again. */
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { activeDifferences } from '../../support/mirror/differences.ts';
import { otherConnection } from '../../support/mirror-file.ts';
import { account } from '../../support/names.ts';
import { isFresh } from '../../support/testbed/daemon.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const name = 'Renamed after the copy';

async function begun(): Promise<Testbed<'daemon'>> {
  const at = await testbed({ level: 'daemon', settings: { schedule: { reconcile: '0 3 * * *' } } });
  await at.untilRuns();
  return at;
}

function copied(at: Testbed<'daemon'>): string {
  const copy = `${at.folder}/copy.db`;
  const other = otherConnection(at.settings.database);
  other.exec(`VACUUM INTO '${copy}'`);
  // Open, it would keep the file that the copy is written over.
  other.close();
  return copy;
}

/** A change that a delivery brings; then the daemon stops normally. */
async function changed(at: Testbed<'daemon'>): Promise<number> {
  const vendors = at.sandbox.vendors(account);
  const id = Number(vendors.listed()[0]!['vendorid']);
  vendors.edit(id, { vendor_name: name });
  await at.clock.pass(60_000);
  expect(nameOf(at, id)).toBe(name);
  await at.stop();
  return id;
}

/** A copy is put in its place, as another file or in the same one. */
function restore(at: Testbed<'daemon'>, copy: string, isSame = false): void {
  if (!isSame) rmSync(at.settings.database);
  copyFileSync(copy, at.settings.database);
}

const nameOf = (at: Testbed<'daemon'>, id: number): unknown =>
  at.query('SELECT vendor_name FROM vendors WHERE vendorid = ?', id)[0]?.['vendor_name'];

describe('F12 a mirror that was restored from a copy', () => {
  it.each([
    ['while the daemon ran', 'as another file'],
    ['while none ran', 'as another file'],
    ['while the daemon ran', 'over the file'],
    ['while none ran', 'over the file'],
  ])('of %s, and was written %s, is in doubt, and swept at once', async (when, how) => {
    const at = await begun();
    const isRunning = when === 'while the daemon ran';
    if (!isRunning) await at.stop();
    const copy = copied(at);
    if (!isRunning) {
      await at.reopen();
      await at.start();
    }
    const id = await changed(at);
    restore(at, copy, how === 'over the file');
    await at.reopen();
    expect(nameOf(at, id)).not.toBe(name);
    const before = at.runs.length;
    await at.start();
    expect((await at.daemon.health.facts()).accounts[0]?.doubt).toContain('restored from a copy');
    await at.untilRuns();
    expect(at.runs[before]).toMatchObject({ outcome: 'complete' });
    expect(nameOf(at, id)).toBe(name);
    expect((await at.daemon.health.facts()).accounts[0]?.doubt).toBeNull();
  });

  it('of while a daemon ran that was killed then, and was written over the file, is in doubt', async () => {
    const at = await begun();
    const copy = copied(at);
    const id = await changed(at);
    restore(at, copy, true);
    // A daemon that is killed records no end.
    const secrets = otherConnection(at.settings.secrets);
    secrets.exec('UPDATE owner SET daemon_epoch = abs(daemon_epoch)');
    secrets.close();
    await at.reopen();
    await at.start();
    expect((await at.daemon.health.facts()).accounts[0]?.doubt).toContain('restored from a copy');
    await at.untilRuns();
    expect(nameOf(at, id)).toBe(name);
  });

  it('of while the daemon ran, and was written over the file with its journal, is in doubt', async () => {
    const at = await begun();
    const { database } = at.settings;
    const copies = ['', '-wal'].map((ending) => [`${database}${ending}`, `${at.folder}/copy.db${ending}`] as const);
    for (const [file, copy] of copies) copyFileSync(file, copy);
    const id = await changed(at);
    for (const [file, copy] of copies) copyFileSync(copy, file);
    await at.reopen();
    expect(nameOf(at, id)).not.toBe(name);
    await at.start();
    expect((await at.daemon.health.facts()).accounts[0]?.doubt).toContain('restored from a copy');
    await at.untilRuns();
    expect(nameOf(at, id)).toBe(name);
  });

  it('is told from one that was not: a daemon that starts again does not sweep for that', async () => {
    const at = await begun();
    const id = await changed(at);
    const before = at.runs.length;
    await at.reopen();
    await at.start();
    await at.clock.pass(60_000);
    expect([at.runs.length - before, nameOf(at, id)]).toEqual([0, name]);
  });
});

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
