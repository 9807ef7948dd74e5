/** The primary is lost: nothing that was acknowledged is lost with it where a synchronous standby takes over; else one run puts it right. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock, systemRandom } from '../../src/domain/clock.ts';
import { openPostgresMirror, type Store } from '../../src/store/mirror.ts';
import { newDelivery } from '../support/deliveries/new-delivery.ts';
import { migrations } from '../support/mirror-file.ts';
import { isMissing } from '../support/needed.ts';
import { isOwnServer, missingPostgres, startOwnServer } from '../support/postgres-server.ts';
import { storeAt, storeSettings } from '../support/postgres-schema.ts';
import { askPostgres, postgresProxy } from '../support/postgres.ts';
import { asked } from '../support/test-size.ts';
import { testbed } from '../support/testbed.ts';

const account = 'one';

/** How many deliveries are acknowledged before the primary is lost, and after it. */
const deliveries = asked('DELIVERIES', 2_000);
const together = 50;
/** Fewer than are marked one by one. */
const vendors = 500;

async function openStore(address: string): Promise<Store> {
  const mirror = await openPostgresMirror({
    store: storeAt(address),
    ...{ migrations, clock: systemClock, random: systemRandom },
  });
  onTestFinished(() => mirror.close());
  return mirror;
}

describe.skipIf(isMissing(missingPostgres) || !isOwnServer)('a standby that takes over', () => {
  it(
    'has every delivery that was acknowledged, gives out no number again, and begins another epoch of the feed',
    { timeout: 600_000 },
    async () => {
      const primary = await startOwnServer();
      onTestFinished(primary.stop);
      const standby = await startOwnServer(primary, ['hot_standby_feedback=on']);
      onTestFinished(standby.stop);
      await askPostgres(primary.address, `ALTER SYSTEM SET synchronous_standby_names TO '*'`);
      await askPostgres(primary.address, 'SELECT pg_reload_conf()');
      const proxy = await postgresProxy(primary.address);
      const [listener, worker] = [await openStore(proxy.address), await openStore(proxy.address)];

      const acknowledged: number[] = [];
      const numbers: number[] = [];
      let next = 1;
      let isOver = false;
      const take = async (): Promise<void> => {
        const ids = Array.from({ length: together }, () => next++);
        const group = ids.map((id) => ({
          ...newDelivery(1 + (id % vendors), { accountId: account, receivedAt: systemClock.now() }),
          userId: id,
        }));
        await listener.deliveries.acceptDeliveries(group).then(
          () => acknowledged.push(...ids),
          () => undefined,
        );
      };
      const count = async (): Promise<void> => {
        while (!isOver)
          await worker.takeStamp().then(
            ({ readSeq }) => numbers.push(readSeq),
            () => undefined,
          );
      };
      const counting = count();
      while (acknowledged.length < deliveries) await take();
      const before = acknowledged.length;
      const lost = primary.lose();
      await take();
      await lost;
      await askPostgres(standby.address, 'SELECT pg_promote()');
      await askPostgres(standby.address, `ALTER SYSTEM SET synchronous_standby_names TO ''`);
      await askPostgres(standby.address, 'SELECT pg_reload_conf()');
      proxy.turnTo(standby.address);
      while (acknowledged.length < before + deliveries) await take();
      isOver = true;
      await counting;
      numbers.push((await worker.takeStamp()).readSeq);

      const stored = await askPostgres<{ id: string }>(
        standby.address,
        'SELECT user_id AS id FROM vendor_mirror.deliveries',
      );
      const there = new Set(stored.map(({ id }) => Number(id)));
      expect(acknowledged.filter((id) => !there.has(id))).toEqual([]);
      expect(numbers.length).toBeGreaterThan(20);
      expect(new Set(numbers).size).toBe(numbers.length);
      expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
      const jumps = numbers.filter((number, index) => number - (numbers[index - 1] ?? number) >= 1_000_000);
      expect(jumps).toHaveLength(1);
    },
  );

  it(
    'without having been waited for: doctor said so, and one run puts right what was lost',
    { timeout: 120_000 },
    async () => {
      const primary = await startOwnServer();
      onTestFinished(primary.stop);
      const standby = await startOwnServer(primary, ['hot_standby_feedback=on']);
      onTestFinished(standby.stop);
      const proxy = await postgresProxy(primary.address);
      const service = await testbed({ level: 'sandbox', world: { noteInList: 'yes' }, vendors: 40 });
      const store = storeSettings(proxy.address);
      const at = await testbed({ level: 'program', service, store, settings: 'sync: { lag: 0s, secondLook: 1s }' });
      expect((await at.run('sync')).status).toBe(0);
      const { checks } = JSON.parse((await at.run('doctor', '--json')).stdout) as { checks: { message: string }[] };
      expect(checks.map(({ message }) => message)).toContainEqual(
        expect.stringMatching(/^No synchronous standby is named: .* the last moments are lost/),
      );
      // What the standby has is not what the primary has any more.
      const has = async (address: string): Promise<unknown> =>
        (await askPostgres(address, 'SELECT max(seq) AS seq FROM vendor_mirror.vendor_versions'))[0];
      const until = await has(primary.address);
      while (JSON.stringify(await has(standby.address)) !== JSON.stringify(until));
      await askPostgres(standby.address, `ALTER SYSTEM SET primary_conninfo TO ''`);
      await askPostgres(standby.address, 'SELECT pg_reload_conf()');
      while ((await askPostgres(standby.address, 'SELECT 1 FROM pg_stat_wal_receiver')).length > 0);
      const vendorService = service.sandbox.vendors(service.account);
      const [edited, deleted] = vendorService.listed().map(({ vendorid }) => Number(vendorid)) as [number, number];
      vendorService.edit(edited, { vendor_name: 'Lost with the primary' });
      vendorService.delete(deleted);
      expect((await at.run('sync')).status).toBe(0);
      const last = (await at.run('changes')).stdout.trimEnd().split('\n').at(-1) ?? '';
      await primary.lose();
      await askPostgres(standby.address, 'SELECT pg_promote()');
      proxy.turnTo(standby.address);
      const nameNow = () =>
        askPostgres(standby.address, 'SELECT vendor_name FROM vendor_mirror.vendors WHERE vendorid = $1', [edited]);
      expect(await nameNow()).not.toEqual([{ vendor_name: 'Lost with the primary' }]);

      const healed = await at.run('reconcile');
      expect([healed.stderr, healed.status]).toEqual(['', 0]);
      expect(await nameNow()).toEqual([{ vendor_name: 'Lost with the primary' }]);
      const verified = await at.run('verify', '--full', '--json');
      expect([verified.status, JSON.parse(verified.stdout)]).toMatchObject([0, { accounts: [{ outcome: 'equal' }] }]);
      const lost = await at.run('changes', '--since', (JSON.parse(last) as { cursor: string }).cursor);
      expect([lost.stderr, lost.status]).toEqual([expect.stringContaining('belongs to another history'), 1]);
    },
  );
});
