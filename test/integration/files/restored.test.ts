/** A daemon that starts on a copy of its mirror from before: deliveries since then were acknowledged, and do not come again. */
import { copyFileSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { otherConnection } from '../../support/mirror-file.ts';
import { account } from '../../support/names.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const name = 'Renamed after the copy';

async function begun(): Promise<Testbed<'daemon'>> {
  const at = await testbed({ level: 'daemon', settings: { schedule: { reconcile: '0 3 * * *' } } });
  await at.untilRuns();
  return at;
}

function copied(at: Testbed<'daemon'>): string {
  const copy = `${at.folder}/copy.db`;
  otherConnection(at.settings.database).exec(`VACUUM INTO '${copy}'`);
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

function restore(at: Testbed<'daemon'>, copy: string): void {
  rmSync(at.settings.database);
  copyFileSync(copy, at.settings.database);
}

const nameOf = (at: Testbed<'daemon'>, id: number): unknown =>
  at.query('SELECT vendor_name FROM vendors WHERE vendorid = ?', id)[0]?.['vendor_name'];

describe('L40 a mirror that was restored from a copy', () => {
  it.each(['while the daemon ran', 'while none ran'])('of %s is in doubt, and swept at once', async (when) => {
    const at = await begun();
    const isRunning = when === 'while the daemon ran';
    if (!isRunning) await at.stop();
    const copy = copied(at);
    if (!isRunning) {
      await at.reopen();
      await at.start();
    }
    const id = await changed(at);
    restore(at, copy);
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
