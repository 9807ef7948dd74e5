/** One rate for all processes of a mirror, whenever they live. */
import { join } from 'node:path';
import Driver from 'better-sqlite3';
import { expect, it, onTestFinished } from 'vitest';
import { systemRandom, type Clock } from '../../../../src/domain/clock.ts';
import type { AskedTurn, Turn } from '../../../../src/domain/rate-turn.ts';
import { openMirror, type Mirror } from '../../../../src/store/mirror.ts';
import { memory } from '../../../support/memory.ts';
import { ask, migrations, namedProcess, temporaryFolder } from '../../../support/mirror-file.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const period = 60_000;
const asked: AskedTurn = { accountId: 'one', family: 'accounting', requests: 5, per: period, longest: 10_000 };

/** Processes that live. */
const alive = new Set<string>();

async function open(path: string, clock: Clock, name: string): Promise<Mirror> {
  alive.add(name);
  const lockProcess = namedProcess(name, (other) => alive.has(other));
  const mirror = await openMirror({ path, migrations, clock, random: systemRandom, lockProcess });
  onTestFinished(() => mirror.close());
  return mirror;
}

/** Takes all turns that there are. */
async function takeAll(mirror: Mirror, more: Partial<AskedTurn> = {}): Promise<{ turns: Turn[]; wait: number }> {
  const turns: Turn[] = [];
  for (;;) {
    const turn = await mirror.takeTurn({ ...asked, ...more });
    if (!('stamp' in turn)) return { turns, wait: turn.wait };
    turns.push(turn);
  }
}

const file = (): string => join(temporaryFolder(memory), 'vendors.db');

async function end(turns: readonly Turn[]): Promise<void> {
  for (const turn of turns) await turn.end(0);
}

it('K30 two processes together never have more requests within a period than the rate allows', async () => {
  const [path, clock] = [file(), virtualClock({ auto: true })];
  const [one, other] = [await open(path, clock, 'one'), await open(path, clock, 'other')];
  const { turns } = await takeAll(one, { requests: 3 });
  const rest = await takeAll(other);
  expect([turns.length, rest.turns.length]).toEqual([3, 2]);
  await end(turns);
  await clock.advance(1_000);
  await end(rest.turns);
  expect((await takeAll(other)).turns).toEqual([]);
  await clock.advance(period - 1_001);
  expect((await takeAll(other)).turns).toEqual([]);
  await clock.advance(1);
  expect((await takeAll(one)).turns).toHaveLength(3);
  await clock.advance(1_000);
  expect((await takeAll(other)).turns).toHaveLength(2);
  // Accounts and families are counted apart.
  expect((await takeAll(one, { accountId: 'two' })).turns).toHaveLength(5);
  expect((await takeAll(one, { family: 'events' })).turns).toHaveLength(5);
});

it('K30 a restart remembers what was used, and nothing is kept for longer than it counts', async () => {
  const [path, clock] = [file(), virtualClock({ auto: true })];
  const first = await open(path, clock, 'first');
  const { turns } = await takeAll(first);
  await end(turns.slice(0, 4));
  // The last one is under way when the process dies: the service may see it a little later.
  await first.close();
  alive.delete('first');
  const next = await open(path, clock, 'next');
  expect((await takeAll(next)).turns).toEqual([]);
  await clock.advance(period);
  expect((await takeAll(next)).turns).toHaveLength(4);
  await clock.advance(asked.longest);
  expect((await takeAll(next)).turns).toHaveLength(1);
  expect(ask(path, "SELECT count(*) AS rows FROM _requests WHERE process = 'first'")).toEqual([{ rows: 0 }]);
});

it('K30 a request that takes longer than it may counts on for as long as its process lives', async () => {
  const [path, clock] = [file(), virtualClock({ auto: true })];
  const one = await open(path, clock, 'stopped');
  const { turns } = await takeAll(one, { requests: 1 });
  await clock.advance(10 * period);
  expect((await takeAll(one, { requests: 1 })).turns).toEqual([]);
  await end(turns);
  expect((await takeAll(one, { requests: 1 })).turns).toEqual([]);
  await clock.advance(period);
  expect((await takeAll(one, { requests: 1 })).turns).toHaveLength(1);
});

it('K30 after a start of the machine, which may have lost what was written last, a period is waited out', async () => {
  const [path, clock] = [file(), virtualClock({ auto: true })];
  await clock.advance(500_000);
  const first = await open(path, clock, 'before');
  await end((await takeAll(first, { requests: 1 })).turns);
  await first.close();
  const restarted = virtualClock({ auto: true });
  await restarted.advance(20_000);
  const next = await open(path, restarted, 'after');
  const { turns, wait } = await takeAll(next);
  expect([turns, wait]).toEqual([[], period - 20_000]);
  await restarted.advance(wait);
  expect((await takeAll(next)).turns).not.toEqual([]);
});

it('K30 a request whose end could not be written gives its place back once writing works again', async () => {
  const [path, clock] = [file(), virtualClock({ auto: true })];
  const mirror = await open(path, clock, 'one');
  const { turns } = await takeAll(mirror);
  const outside = new Driver(path);
  onTestFinished(() => void outside.close());
  outside.exec("CREATE TRIGGER full BEFORE UPDATE ON _requests BEGIN SELECT raise(ABORT, 'disk full'); END");
  await end(turns);
  outside.exec('DROP TRIGGER full');
  expect((await takeAll(mirror)).turns).toEqual([]);
  await clock.advance(period + asked.longest);
  expect((await takeAll(mirror)).turns).toHaveLength(asked.requests);
});

it('K30 is asked again after seconds, not at once, while requests that ought to have ended hold every place', async () => {
  const [path, clock] = [file(), virtualClock({ auto: true })];
  const mirror = await open(path, clock, 'one');
  await takeAll(mirror);
  await clock.advance(period + asked.longest + 1);
  expect(await takeAll(mirror)).toEqual({ turns: [], wait: 5_000 });
});

it('K30 a request that nobody waits for any more counts for as long as it may still be on its way', async () => {
  const clock = virtualClock({ auto: true });
  const mirror = await open(file(), clock, 'one');
  const { turns } = await takeAll(mirror);
  await turns[0]!.end(2_000);
  await end(turns.slice(1));
  await clock.advance(period);
  expect((await takeAll(mirror)).turns).toHaveLength(4);
  await clock.advance(2_000);
  expect((await takeAll(mirror)).turns).toHaveLength(1);
});
