/** What a daemon notices only after a minute or more. Behind NIGHTLY=1; virtual clocks prove the same in test/integration. */
import { renameSync } from 'node:fs';
import { setTimeout as later } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { activeDifferences } from '../../support/mirror/differences.ts';
import { until } from '../../support/testbed/daemon-process.ts';
import { testbed } from '../../support/testbed.ts';

/** Longer than the gap watch bears. */
const asleep = 100_000;

describe.runIf(process.env['NIGHTLY'])('a daemon over minutes', () => {
  it('J10 B6 is stopped and continued: it reconciles before it reports the mirror as fresh', async () => {
    const world = await testbed({
      level: 'sandbox',
      world: { noteInList: 'yes' },
      vendors: 100,
      deliveries: { lose: 1 },
    });
    const at = await testbed({ level: 'program', service: world, listens: true, settings: 'sync: { lag: 0s }' });
    const daemon = await at.serveUntilSwept();
    const vendorService = world.sandbox.vendors(world.account);
    const isFresh = async (): Promise<boolean> => {
      const answer = await fetch(`http://127.0.0.1:${at.adminPort}/api/status`);
      return ((await answer.json()) as { fresh: boolean }).fresh;
    };
    expect(await isFresh()).toBe(true);
    daemon.child.kill('SIGSTOP');
    for (const { vendorid } of vendorService.listed().slice(0, 10))
      vendorService.edit(Number(vendorid), { city: 'Unheard' });
    await later(asleep);
    // The run after the gap finds the service down; only the one after that can end the doubt.
    world.sandbox.faults.next({ kind: '401', match: ({ path }) => path.endsWith('/bill_vendors') });
    daemon.child.kill('SIGCONT');
    await daemon.logged('the clock jumped');
    await until(() => at.query(`SELECT 1 FROM runs WHERE outcome = 'failed'`).length > 0);
    expect(await isFresh()).toBe(false);
    expect((await at.run('reconcile')).status).toBe(0);
    expect(activeDifferences({ ...at, sandbox: world.sandbox })).toEqual([]);
    expect(await daemon.end()).toBe(0);
  }, 300_000);

  it('F9 exits with 74 and says why when its file is moved away', async () => {
    const world = await testbed({ level: 'sandbox', world: { noteInList: 'yes' }, vendors: 100 });
    const at = await testbed({ level: 'program', service: world, listens: true });
    const daemon = await at.serveUntilSwept();
    renameSync(at.database, `${at.database}.moved`);
    expect(await daemon.ended).toBe(74);
    expect(daemon.stderr()).toContain(`${at.database} was moved or deleted while it was in use.`);
  });
});
