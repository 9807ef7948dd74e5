/** One rate limit for all processes of a mirror, now and earlier. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import type { Reservation } from '../../../src/domain/reading.ts';
import { ask, newPath } from '../../support/mirror-file.ts';
import { alive, asked, longest, openAs, period, reserve, type Asked } from '../../support/mirror/rates.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import type { Store } from '../../../src/store/mirror.ts';

/** Takes all reservations that there are. */
async function takeAll(
  mirror: Store,
  more: Partial<Asked> = {},
): Promise<{ reservations: Reservation[]; wait: number }> {
  const reservations: Reservation[] = [];
  for (;;) {
    const reserved = await reserve(mirror, more);
    if (!('stamp' in reserved)) return { reservations, wait: reserved.wait };
    reservations.push(reserved);
  }
}

function end(reservations: readonly Reservation[]): void {
  for (const reserved of reservations) reserved.end(0);
}

it('K30 two processes together never send more requests within a period than the rate allows', async () => {
  const [path, clock] = [newPath(), virtualClock({ auto: true })];
  const [one, other] = [await openAs(path, clock, 'one'), await openAs(path, clock, 'other')];
  const { reservations } = await takeAll(one, { requests: 3 });
  const rest = await takeAll(other);
  expect([reservations.length, rest.reservations.length]).toEqual([3, 2]);
  end(reservations);
  await clock.advance(1_000);
  end(rest.reservations);
  expect((await takeAll(other)).reservations).toEqual([]);
  await clock.advance(period - 1_001);
  expect((await takeAll(other)).reservations).toEqual([]);
  await clock.advance(1);
  expect((await takeAll(one)).reservations).toHaveLength(3);
  await clock.advance(1_000);
  expect((await takeAll(other)).reservations).toHaveLength(2);
  // Connections and windows are counted apart.
  expect((await takeAll(one, { connection: 'two' })).reservations).toHaveLength(5);
  expect((await takeAll(one, { window: 'callbacks' })).reservations).toHaveLength(5);
});

it('K30 requests that ask together leave in the order of their numbers, whoever else uses the file', async () => {
  const mirror = await openAs(newPath(), virtualClock({ auto: true }), 'one');
  const left: number[] = [];
  await Promise.all(
    Array.from({ length: 30 }, async (_, index) => {
      if (index % 3 === 0) await mirror.identity();
      const reserved = await reserve(mirror, { requests: 100 });
      if ('stamp' in reserved) left.push(reserved.stamp.readSeq);
    }),
  );
  expect(left).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
});

it('K30 a restart keeps the used part of the rate, and nothing is stored for longer than it counts', async () => {
  const [path, clock] = [newPath(), virtualClock({ auto: true })];
  const first = await openAs(path, clock, 'first');
  const { reservations } = await takeAll(first);
  end(reservations.slice(0, 4));
  // The last one is under way when the process dies: the service may see it a little later.
  await first.close();
  alive.delete('first');
  const next = await openAs(path, clock, 'next');
  expect((await takeAll(next)).reservations).toEqual([]);
  await clock.advance(period);
  expect((await takeAll(next)).reservations).toHaveLength(4);
  await clock.advance(longest);
  expect((await takeAll(next)).reservations).toHaveLength(1);
  expect(ask(path, "SELECT count(*) AS rows FROM _requests WHERE process = 'first'")).toEqual([{ rows: 0 }]);
});

it('K30 a request that exceeds its time limit counts as long as its process lives', async () => {
  const [path, clock] = [newPath(), virtualClock({ auto: true })];
  const one = await openAs(path, clock, 'stopped');
  const { reservations } = await takeAll(one, { requests: 1 });
  await clock.advance(10 * period);
  expect((await takeAll(one, { requests: 1 })).reservations).toEqual([]);
  end(reservations);
  expect((await takeAll(one, { requests: 1 })).reservations).toEqual([]);
  await clock.advance(period);
  expect((await takeAll(one, { requests: 1 })).reservations).toHaveLength(1);
});

it('K30 after a restart of the machine, which may have lost the last writes, one period passes without requests', async () => {
  const [path, clock] = [newPath(), virtualClock({ auto: true })];
  await clock.advance(500_000);
  const first = await openAs(path, clock, 'before');
  end((await takeAll(first, { requests: 1 })).reservations);
  await first.close();
  const restarted = virtualClock({ auto: true });
  await restarted.advance(20_000);
  const next = await openAs(path, restarted, 'after');
  const { reservations, wait } = await takeAll(next);
  expect([reservations, wait]).toEqual([[], period - 20_000]);
  await restarted.advance(wait);
  expect((await takeAll(next)).reservations).not.toEqual([]);
});

it('K30 the end of a request is written with the next one of its connection, a second later where several wait, or when the file closes', async () => {
  const [path, clock] = [newPath(), virtualClock()];
  const mirror = await openAs(path, clock, 'one');
  const underWay = (): unknown => ask(path, 'SELECT count(*) AS rows FROM _requests WHERE process IS NOT NULL');
  const request = (more: Partial<Asked> = {}): Promise<Reservation> =>
    reserve(mirror, { requests: 20, ...more }) as Promise<Reservation>;
  const [first, second, third] = [await request(), await request(), await request()];
  first.end(0);
  await request({ connection: 'two' });
  expect(underWay()).toEqual([{ rows: 4 }]);
  await request();
  expect(underWay()).toEqual([{ rows: 4 }]);
  second.end(0);
  third.end(0);
  await clock.advance(1_000);
  expect(underWay()).toEqual([{ rows: 4 }]);
  (await request()).end(0);
  expect(underWay()).toEqual([{ rows: 3 }]);
  (await request({ connection: 'two' })).end(0);
  const many = await Promise.all([request(), request(), request()]);
  for (const one of many) one.end(0);
  expect(clock.pending()).toEqual([1_000]);
  await clock.advance(999);
  expect(underWay()).toEqual([{ rows: 6 }]);
  await clock.advance(1);
  await mirror.takeStamp();
  expect(underWay()).toEqual([{ rows: 2 }]);
  (await request()).end(0);
  await mirror.close();
  expect(underWay()).toEqual([{ rows: 2 }]);
});

it('K2 a file that another program has locked delays its closing by two seconds at most', async () => {
  const [path, clock] = [newPath(), virtualClock({ auto: true })];
  const mirror = await openAs(path, clock, 'one');
  const { reservations } = await takeAll(mirror);
  const outside = new Driver(path);
  onTestFinished(() => void outside.close());
  outside.exec('BEGIN IMMEDIATE');
  end(reservations);
  const begun = clock.monotonic();
  await mirror.close();
  expect(clock.monotonic() - begun).toBeLessThan(3_000);
});

it('K30 a request whose end could not be stored frees its place once writing works again', async () => {
  const [path, clock] = [newPath(), virtualClock({ auto: true })];
  const mirror = await openAs(path, clock, 'one');
  const { reservations } = await takeAll(mirror);
  const outside = new Driver(path);
  onTestFinished(() => void outside.close());
  outside.exec("CREATE TRIGGER full BEFORE UPDATE ON _requests BEGIN SELECT raise(ABORT, 'disk full'); END");
  end(reservations);
  await clock.advance(1_000);
  await expect(takeAll(mirror)).rejects.toThrow('disk full');
  outside.exec('DROP TRIGGER full');
  expect((await takeAll(mirror)).reservations).toEqual([]);
  await clock.advance(period - 1_000);
  expect((await takeAll(mirror)).reservations).toHaveLength(asked.requests);
});

it('K30 a caller waits seconds before it asks again while overdue requests hold every place', async () => {
  const [path, clock] = [newPath(), virtualClock({ auto: true })];
  const mirror = await openAs(path, clock, 'one');
  await takeAll(mirror);
  await clock.advance(period + longest + 1);
  expect(await takeAll(mirror)).toEqual({ reservations: [], wait: 5_000 });
});

it('K30 a caller waits until the first place that will be free, whatever else is overdue or under way', async () => {
  const clock = virtualClock({ auto: true });
  const mirror = await openAs(newPath(), clock, 'one');
  const { reservations } = await takeAll(mirror);
  reservations[0]!.end(0);
  await clock.advance(1_000);
  reservations[1]!.end(0);
  await clock.advance(57_500);
  expect(await takeAll(mirror)).toEqual({ reservations: [], wait: 1_500 });
  // The last three are overdue, and another two are under way.
  await clock.advance(13_500);
  const { reservations: more, wait } = await takeAll(mirror);
  expect([more.length, wait]).toEqual([2, 5_000]);
  more[0]!.end(0);
  await clock.advance(58_000);
  expect(await takeAll(mirror)).toEqual({ reservations: [], wait: 2_000 });
});

it('K30 a number that is taken without a request is the next one, at the present moment, and uses up no place', async () => {
  const clock = virtualClock({ auto: true });
  const mirror = await openAs(newPath(), clock, 'one');
  const first = (await takeAll(mirror, { requests: 1 })).reservations[0]!.stamp;
  await clock.advance(1_000);
  const { readSeq, begun } = await mirror.takeStamp();
  expect([readSeq > first.readSeq, begun - first.begun]).toEqual([true, 1_000]);
  expect((await takeAll(mirror)).reservations).toHaveLength(4);
});

it('K30 an aborted request counts as long as it may still be under way', async () => {
  const clock = virtualClock({ auto: true });
  const mirror = await openAs(newPath(), clock, 'one');
  const { reservations } = await takeAll(mirror);
  reservations[0]!.end(2_000);
  end(reservations.slice(1));
  await clock.advance(period);
  expect((await takeAll(mirror)).reservations).toHaveLength(4);
  await clock.advance(2_000);
  expect((await takeAll(mirror)).reservations).toHaveLength(1);
});

it('K30 ended requests are removed from time to time even if the rate is far from used up', async () => {
  const [path, clock] = [newPath(), virtualClock({ auto: true })];
  const mirror = await openAs(path, clock, 'one');
  const rows = (): unknown => ask(path, 'SELECT count(*) AS rows FROM _requests');
  for (let round = 0; round < 3; round++) {
    for (let nth = 0; nth < 500; nth++) {
      const reserved = await reserve(mirror, { requests: 100_000 });
      if ('stamp' in reserved) reserved.end(0);
    }
    await clock.advance(period);
  }
  expect(rows()).toEqual([{ rows: 500 }]);
});

describe('a process that finds no place for a prompt request', () => {
  const waiting = (path: string): unknown[] => ask(path, 'SELECT process FROM _rate_waits ORDER BY since_seq');

  it('L110 has the next one, whoever tries first, and after it who waited next', async () => {
    const [path, clock] = [newPath(), virtualClock({ auto: true })];
    const names = ['one', 'other', 'third'] as const;
    const [one, other, third] = [
      await openAs(path, clock, names[0]),
      await openAs(path, clock, names[1]),
      await openAs(path, clock, names[2]),
    ];
    const { reservations } = await takeAll(one, { isPrompt: true });
    for (const mirror of [other, third]) expect((await takeAll(mirror, { isPrompt: true })).reservations).toEqual([]);
    end(reservations.slice(0, 1));
    await clock.advance(1_000);
    end(reservations.slice(1));
    await clock.advance(period - 1_000);
    // Others have tried again in time.
    for (const mirror of [other, third]) await reserve(mirror, { isPrompt: true, requests: 0 });
    expect(waiting(path)).toEqual([{ process: 'other' }, { process: 'third' }]);
    expect(await reserve(one, { isPrompt: true })).toHaveProperty('wait');
    expect(await reserve(third, { isPrompt: true })).toHaveProperty('wait');
    expect(await reserve(other, { isPrompt: true })).toHaveProperty('stamp');
    expect(await reserve(other, { isPrompt: true })).toHaveProperty('wait');
    expect(waiting(path)).toEqual([{ process: 'third' }, { process: 'one' }, { process: 'other' }]);
  });

  it('L110 waits for no process that has ended, nor long for one that was killed', async () => {
    const [path, clock] = [newPath(), virtualClock({ auto: true })];
    const names = ['one', 'other', 'third'] as const;
    const [one, other, third] = [
      await openAs(path, clock, names[0]),
      await openAs(path, clock, names[1]),
      await openAs(path, clock, names[2]),
    ];
    end((await takeAll(one, { isPrompt: true })).reservations);
    await takeAll(other, { isPrompt: true });
    await takeAll(third, { isPrompt: true });
    await other.close();
    expect(waiting(path)).toEqual([{ process: 'one' }, { process: 'third' }]);
    await clock.advance(period);
    expect((await takeAll(one, { isPrompt: true })).reservations).toHaveLength(5);
    expect(waiting(path)).toEqual([{ process: 'one' }]);
  });

  it('L110 leaves no place to one that asks for what may wait', async () => {
    const [path, clock] = [newPath(), virtualClock({ auto: true })];
    const [one, other] = [await openAs(path, clock, 'one'), await openAs(path, clock, 'other')];
    await takeAll(one, { requests: 3 });
    expect(waiting(path)).toEqual([]);
    expect((await takeAll(other, { isPrompt: true })).reservations).toHaveLength(2);
  });
});
