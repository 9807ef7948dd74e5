/** The primary is lost under load, and its synchronous standby takes over: nothing that was acknowledged is lost, and no number repeats. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock, systemRandom } from '../../src/domain/clock.ts';
import { openPostgresMirror, type Store } from '../../src/store/mirror.ts';
import { newDelivery } from '../support/deliveries/new-delivery.ts';
import { migrations } from '../support/mirror-file.ts';
import { isMissing } from '../support/needed.ts';
import { isOwnServer, missingPostgres, startOwnServer } from '../support/postgres-server.ts';
import { storeAt } from '../support/postgres-schema.ts';
import { askPostgres, postgresProxy } from '../support/postgres.ts';
import { asked } from '../support/test-size.ts';

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
});
