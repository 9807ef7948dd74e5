import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { MirrorError } from '../../../src/domain/errors.ts';
import { connectWriter } from '../../../src/store/sqlite/driver.ts';
import { GroupCommit } from '../../../src/webhook/delivery-receiver.ts';
import { flood } from '../../support/deliveries/flood.ts';
import { delivery, signed } from '../../support/deliveries/signed-delivery.ts';
import { account } from '../../support/names.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';
import { newDelivery } from '../../support/deliveries/new-delivery.ts';

const post = async (place: Testbed<'listener'>, objectId = 1001): Promise<number> =>
  (await fetch(place.address, signed({ ...delivery, object_id: String(objectId) }))).status;

function gate(): { readonly passed: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open };
}

describe('deliveries that arrive together', () => {
  it('C15 share one commit, and each is answered when it is on disk', async () => {
    const groups: number[][] = [];
    const commits = new GroupCommit({
      clock: systemClock,
      commit: (list) => {
        groups.push(list.map(({ vendorid }) => vendorid ?? 0));
        return Promise.resolve();
      },
    });
    await Promise.all([1, 2, 3].map((id) => commits.add(newDelivery(id))));
    await commits.add(newDelivery(4));
    expect(groups).toEqual([[1, 2, 3], [4]]);
  });

  it('fail together, and later ones do not', async () => {
    let broken = true;
    const commits = new GroupCommit({
      clock: systemClock,
      commit: () => (broken ? Promise.reject(new Error('full')) : Promise.resolve()),
    });
    const outcomes = await Promise.allSettled([commits.add(newDelivery(1)), commits.add(newDelivery(2))]);
    expect(outcomes.map((outcome) => String((outcome as PromiseRejectedResult).reason))).toEqual([
      'Error: full',
      'Error: full',
    ]);
    broken = false;
    await expect(commits.add(newDelivery(3))).resolves.toBeUndefined();
  });
});

describe('C5 a delivery is acknowledged after it is on disk', () => {
  it('and not while another program has locked the file', async () => {
    const events: string[] = [];
    const tried = gate();
    const place = await testbed({
      level: 'listener',
      clock: systemClock,
      mirror: (mirror) => ({
        acceptDeliveries(list) {
          tried.open();
          return mirror.deliveries.acceptDeliveries(list);
        },
      }),
    });
    const foreign = connectWriter(place.mirror.path);
    foreign.exec('BEGIN IMMEDIATE');
    const answer = post(place).then((status) => events.push(`answered ${status}`));
    await tried.passed;
    await systemClock.yield();
    events.push('released');
    foreign.exec('COMMIT');
    await answer;
    expect(events).toEqual(['released', 'answered 200']);
    expect(foreign.prepare('SELECT count(*) FROM deliveries').pluck().get()).toBe(1);
    foreign.close();
  });

  it('and each of many is stored when its answer arrives', async () => {
    const place = await testbed({ level: 'listener', clock: systemClock });
    const reader = connectWriter(place.mirror.path);
    const count = reader.prepare('SELECT count(*) FROM deliveries WHERE object_id = ?').pluck();
    const found = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => [await post(place, index + 1), count.get(index + 1)]),
    );
    expect(found).toEqual(found.map(() => [200, 1]));
    reader.close();
  });

  it('C12, C19 and is soon refused with 503 if the file stays locked, so that it is sent again', async () => {
    const place = await testbed({ level: 'listener', clock: systemClock });
    const foreign = connectWriter(place.mirror.path);
    foreign.exec('BEGIN IMMEDIATE');
    expect(await post(place)).toBe(503);
    foreign.exec('COMMIT');
    foreign.close();
    expect(await post(place)).toBe(200);
    expect(place.outcomes).toEqual(['unavailable', 'accepted']);
  });
});

describe('C12 problems with the disk', () => {
  const failing = (error: Error) =>
    testbed({ level: 'listener', mirror: () => ({ acceptDeliveries: () => Promise.reject(error) }) });

  it('are answered with 503 if the disk is full', async () => {
    const place = await failing(new MirrorError('disk_full', 'The disk is full.'));
    expect(await post(place)).toBe(503);
  });

  it('C11, C19 are answered with 503 at once while a thousand deliveries wait, and the thousand are accepted', async () => {
    const held = gate();
    const place = await testbed({
      level: 'listener',
      clock: systemClock,
      mirror: (mirror) => ({
        async acceptDeliveries(list) {
          await held.passed;
          return mirror.deliveries.acceptDeliveries(list);
        },
      }),
    });
    const answers = flood(
      place,
      Array.from({ length: 1_100 }, () => signed(delivery)),
      1_100,
    );
    while (place.outcomes.length < 100) await systemClock.yield();
    expect(place.outcomes).toEqual(Array.from({ length: 100 }, () => 'overloaded'));
    held.open();
    expect(await answers).toEqual({ 200: 1_000, 503: 100 });
  });
});

describe('floods', () => {
  it('E7, C1, C15 of a genuine delivery that is replayed a thousand times make one mark', async () => {
    const place = await testbed({ level: 'listener', clock: systemClock });
    expect(
      await flood(
        place,
        Array.from({ length: 1_000 }, () => signed(delivery)),
      ),
    ).toEqual({ 200: 1_000 });
    expect(await place.mirror.queue.dueMarks(account, 10)).toMatchObject([{ vendorid: 1001, reason: 'delivery' }]);
  });

  it('H1 of two thousand forged deliveries leave no row, and the subscription manager is told once that none is genuine', async () => {
    const place = await testbed({ level: 'listener', clock: systemClock });
    const forged = Array.from({ length: 2_000 }, (_, guess) => signed(delivery, `guess ${guess}`));
    expect(await flood(place, forged)).toEqual({ 401: 2_000 });
    expect(await place.mirror.queue.countMarks(account)).toBe(0);
    expect(place.called).toEqual({ deliveries: 0, codes: 0, silences: 1 });
  });
});
