import { chmodSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { EmbeddedSandbox } from '../../src/sandbox/embedded.ts';
import { oddWorld } from '../support/odd-world.ts';

import { askShell, drivers, hasShell, shells } from '../support/mirror/readers.ts';
import { isMissing } from '../support/needed.ts';
import { testbed, type Testbed } from '../support/testbed.ts';

const [perPage, pages] = [15, 40];
const total = perPage * pages;

/** Vendors, those of the second edition, and those whose parts are not of one edition; in one statement, hence of one moment. */
const vendorScan = `
  SELECT count(*) || ' ' || count(*) FILTER (WHERE phone = '2') || ' ' || count(*) FILTER (WHERE
    (SELECT group_concat(amount) FROM vendor_balances b WHERE b.vendorid = v.vendorid) IS NOT phone || '.00,' || phone || '.00'
    OR (SELECT raw ->> 'phone' FROM vendor_versions s WHERE s.vendorid = v.vendorid AND valid_to IS NULL) IS NOT phone)
  FROM vendors v`;

/** Gives every vendor this phone number, and this amount in both balances. */
function publish({ sandbox, account }: EmbeddedSandbox, edition: string): void {
  const vendorService = sandbox.vendors(account);
  for (const { vendorid } of vendorService.all()) {
    vendorService.edit(Number(vendorid), { phone: edition });
    for (const kind of ['outstanding', 'overdue'] as const)
      vendorService.setBalance(Number(vendorid), kind, [{ amount: `${edition}.00`, code: 'USD' }]);
  }
}

/** Syncs while others read, with a pause in its middle, so that all of them see one. */
async function syncWatched(at: Testbed<'program'>, { sandbox }: EmbeddedSandbox): Promise<Record<string, Set<string>>> {
  const middle = String(pages / 2);
  sandbox.faults.next({ kind: '429', retryAfter: '1', match: ({ query }) => query.get('page') === middle });
  const over = new AbortController();
  const watching = Promise.all([
    drivers(at.database, vendorScan, over.signal),
    hasShell ? shells(at.database, vendorScan, over.signal) : undefined,
  ]);
  try {
    const { status, stderr } = await at.run('sync');
    expect(status, stderr).toBe(0);
  } finally {
    over.abort();
  }
  const [driver, shell] = await watching;
  return { driver, ...(shell && { shell }) };
}

describe('readers beside a sync', () => {
  it(`F16 F4 see whole vendors and whole pages, and no lock, by the driver${hasShell ? ' and by the shell' : ''}`, async () => {
    // Every page of such a service is of one size, so that a page that is seen in part shows.
    const sandbox = await testbed({ level: 'sandbox', vendors: 0, world: oddWorld('perPage=ignored') });
    const at = await testbed({ level: 'program', service: sandbox, settings: 'sync: { lag: 0s }' });
    expect((await at.run('sync')).status).toBe(0);
    const vendorService = sandbox.sandbox.vendors(sandbox.account);
    for (let nth = 0; nth < total; nth++) vendorService.create({ vendor_name: `Vendor ${nth}`, language: 'en' });

    for (const edition of ['1', '2']) {
      publish(sandbox, edition);
      for (const [reader, shown] of Object.entries(await syncWatched(at, sandbox))) {
        const states = [...shown].map((line) => line.split(' ').map(Number));
        for (const [held, second, torn] of states)
          expect([held! % perPage, second! % perPage, torn], reader).toEqual([0, 0, 0]);
        const between = states.filter((state) => state[Number(edition) - 1]! % total > 0);
        expect(between.length, `${reader} saw the middle of it`).toBeGreaterThan(0);
      }
    }
  });

  const unasked = hasShell ? (process.getuid?.() === 0 ? '' : ' (not asked: needs root)') : ' (not asked: no sqlite3)';
  it.skipIf(isMissing(unasked || undefined))(
    `F15 P5 open the file afterwards without any right to write${unasked}`,
    async () => {
      const at = await testbed({ level: 'program', service: { vendors: total } });
      await at.run('sync');
      chmodSync(at.folder, 0o755);
      chmodSync(at.database, 0o644);
      const nobody = { uid: 65_534, gid: 65_534, cwd: '/' };
      expect(await askShell(at.database, 'SELECT count(*) FROM vendors', nobody)).toBe(String(total));
      await expect(askShell(at.database, 'DELETE FROM vendors', nobody)).rejects.toThrow('readonly');
    },
  );
});
