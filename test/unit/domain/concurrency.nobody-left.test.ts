/**
 * Whoever waits for something shared is served, or refused by its own signal, and may leave at any moment. Once all have left, everything is
 * free again: as many are served at once as at the beginning, no timer is set, and nobody listens.
 */
import { getEventListeners } from 'node:events';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it, onTestFinished, vi } from 'vitest';
import { RateLimiter } from '../../../src/api/http/rate-limiter.ts';
import { SweepPermits } from '../../../src/app/sweep-permits.ts';
import { systemRandom } from '../../../src/domain/clock.ts';
import { ArrivalSignal, SingleFlight, unlessAborted } from '../../../src/domain/concurrency.ts';
import { lockFile, lockProcess } from '../../../src/store/files/locks.ts';
import { FileSecrets } from '../../../src/store/secrets/file-secrets.ts';
import { unsealed } from '../../../src/store/secrets/sealing.ts';
import { TokenStore } from '../../../src/store/secrets/token-store.ts';
import { SqliteDatabase } from '../../../src/store/sqlite/database.ts';
import { readMigrations } from '../../../src/store/sqlite/migrate.ts';
import { migrations, temporaryFolder } from '../../support/mirror-file.ts';
import { virtualClock, type VirtualClock } from '../../support/virtual-clock.ts';

/** Somebody who comes, waits, works from answer to answer once served, and leaves. */
class Visitor {
  readonly #controller = new AbortController();
  readonly signal = this.#controller.signal;
  readonly gone: Promise<false>;
  /** Whether it was served. */
  served = false;
  #leave = (): void => undefined;
  #waits: { readonly resolve: (goesOn: boolean) => void; readonly reject: (error: Error) => void } | undefined;
  #left: Error | true | undefined;

  constructor() {
    this.gone = new Promise((resolve) => (this.#leave = () => resolve(false)));
  }

  /** Asks the service something. @returns whether it goes on after the answer. @throws where it fails or is aborted. */
  step(): Promise<boolean> {
    this.served = true;
    if (this.#left === true) return Promise.resolve(false);
    if (this.#left) return Promise.reject(this.#left);
    return new Promise((resolve, reject) => (this.#waits = { resolve, reject }));
  }

  async works(): Promise<void> {
    while (await this.step());
  }

  answer(): void {
    this.#waits?.resolve(true);
  }

  leave(): void {
    this.#left ??= true;
    this.#waits?.resolve(false);
    this.#leave();
  }

  fail(error = new Error('reset')): void {
    this.#left ??= error;
    this.#waits?.reject(error);
  }

  abort(): void {
    const error = new Error('removed');
    this.#controller.abort(error);
    this.fail(error);
  }
}

interface Shared {
  readonly clock: VirtualClock;
  /** How many may have it at once; undefined where any number may. */
  readonly limit?: number;
  /** Waits for its turn, works and leaves. */
  readonly visit: (visitor: Visitor, number: number) => Promise<unknown>;
  /** What all wait for happens. */
  readonly arrive?: () => void;
  /** Nothing is given out any more. */
  readonly stop?: () => Promise<void>;
  /** How long a place is used after it was left, in milliseconds. */
  readonly rests?: number;
  /** Fails where something is left. */
  readonly assertEmpty?: () => void;
}

/** Made once for each sequence of commands. */
type Kind = () => Shared;

const permits: Kind = () => {
  const clock = virtualClock();
  const shared = new SweepPermits(2, clock);
  const visit = async (visitor: Visitor): Promise<void> => {
    const permit = await shared.acquire(visitor.signal);
    try {
      // A sweep that reads several pages at once leaves while one of them still waits to go on.
      while (await Promise.race([permit.during(visitor.step()), visitor.gone]));
    } finally {
      permit.release();
    }
  };
  return { clock, limit: 2, visit, stop: () => shared.stop() };
};

const rate: Kind = () => {
  const clock = virtualClock();
  const shared = new RateLimiter({ requests: 3, per: 5_000 }, clock, { reservedForPrompt: 1 });
  const visit = async (visitor: Visitor, number: number): Promise<void> => {
    const turn = { account: 'one', priority: number % 3 === 0 ? 'background' : 'prompt' } as const;
    const place = await shared.enter(turn, visitor.signal);
    try {
      await visitor.works();
    } finally {
      shared.leave(place);
    }
  };
  return { clock, limit: 3, visit, rests: 5_000 };
};

const arrivals: Kind = () => {
  const clock = virtualClock();
  const shared = new ArrivalSignal();
  return {
    clock,
    visit: async (visitor) => {
      await shared.waitForMore(shared.count, 4_000, clock, visitor.signal);
      await visitor.works();
    },
    arrive: () => shared.notify(),
    assertEmpty: () => {
      const woken = vi.spyOn(AbortController.prototype, 'abort');
      shared.notify();
      expect(woken).not.toHaveBeenCalled();
      woken.mockRestore();
    },
  };
};

const flights: Kind = () => {
  const shared = new SingleFlight<void>();
  let begun = 0;
  const begin = (visitor: Visitor) => (): Promise<void> => {
    begun += 1;
    return visitor.works();
  };
  return {
    clock: virtualClock(),
    visit: (visitor) => unlessAborted(shared.run(begin(visitor)), visitor.signal),
    assertEmpty: () => {
      const before = begun;
      const next = new Visitor();
      next.leave();
      void shared.run(begin(next));
      expect(begun).toBe(before + 1);
    },
  };
};

/** Each visitor is a process of its own. */
async function leases(): Promise<Kind> {
  const clock = virtualClock();
  const path = join(temporaryFolder(), 'secrets.db');
  const database = await SqliteDatabase.open({
    path,
    clock,
    random: systemRandom,
    mode: 0o600,
    migrations: readMigrations(join(migrations, 'secrets')),
  });
  onTestFinished(() => database.close());
  let clients = 0;
  return () => {
    const client = `client ${(clients += 1)}`;
    const renewals = new Set<Promise<unknown>>();
    const { leases } = new FileSecrets(database, path, clock);
    const user = (name: string) => ({ process: { name, isAlive: () => true }, onWait: () => undefined });
    return {
      clock,
      limit: 1,
      visit: (visitor, number) =>
        new TokenStore(database, {
          ...{ client, clock, leases, renewals, random: systemRandom, sealing: unsealed },
          user: user(`process${number}`),
          closing: visitor.signal,
        }).exclusively(() => visitor.works()),
      assertEmpty: () => expect(renewals).toEqual(new Set()),
    };
  };
}

const locks: Kind = () => {
  const path = join(temporaryFolder(), 'vendors.db.lock');
  return {
    clock: virtualClock(),
    limit: 1,
    visit: async (visitor) => {
      const lock = lockFile(path);
      if (!lock) throw new Error('another has it');
      await visitor.works().finally(() => lock.close());
    },
  };
};

const processes: Kind = () => {
  const path = join(temporaryFolder(), 'vendors.db');
  const names: string[] = [];
  return {
    clock: virtualClock(),
    visit: async (visitor) => {
      const lock = lockProcess(path, systemRandom);
      names.push(lock.name);
      await visitor.works().finally(() => lock.release());
    },
    assertEmpty: () => {
      const observer = lockProcess(path, systemRandom);
      const alive = names.filter((name) => observer.isAlive(name) === true);
      observer.release();
      expect(alive).toEqual([]);
    },
  };
};

type Command =
  | { readonly do: 'enter' | 'arrive' | 'stop' }
  | { readonly do: 'answer' | 'leave' | 'fail' | 'abort'; readonly who: number }
  | { readonly do: 'pass'; readonly ms: number };

/** Commands follow each other at once, or when all that follows from the one before has happened. */
interface Step {
  readonly command: Command;
  readonly settles: boolean;
}

const who = fc.nat({ max: 7 });
const enter = fc.constant<Command>({ do: 'enter' });
const command = fc.oneof(
  { weight: 5, arbitrary: enter },
  { weight: 8, arbitrary: fc.record({ do: fc.constantFrom('answer', 'leave', 'fail', 'abort'), who }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('pass'), ms: fc.constantFrom(0, 500, 1_000, 5_000) }) },
  { weight: 1, arbitrary: fc.constant<Command>({ do: 'arrive' }) },
);
const step = fc.record({ command, settles: fc.boolean() });

/** Within this time the next who waits is served, once the others have left, in milliseconds. */
const longestWait = 5_000;

/** All that follows has happened. */
async function settle(): Promise<void> {
  for (let turns = 0; turns < 8; turns += 1) await turn();
}

class Queue {
  readonly #shared: Shared;
  readonly #visitors: Visitor[] = [];
  /** Those who have not left. */
  readonly #there = new Set<Visitor>();

  constructor(shared: Shared) {
    this.#shared = shared;
  }

  enter(): Visitor {
    const visitor = new Visitor();
    this.#there.add(visitor);
    const leaves = (): unknown => this.#there.delete(visitor);
    this.#shared.visit(visitor, this.#visitors.push(visitor)).then(leaves, leaves);
    return visitor;
  }

  async obey(command: Command): Promise<void> {
    switch (command.do) {
      case 'enter':
        this.enter();
        return;
      case 'arrive':
        return this.#shared.arrive?.();
      case 'stop':
        return this.#shared.stop?.();
      case 'pass':
        return this.#shared.clock.advance(command.ms);
      case 'answer':
      case 'leave':
      case 'fail':
      case 'abort':
        this.#visitors[this.#visitors.length - 1 - command.who]?.[command.do]();
    }
  }

  /** All are removed at once, or leave when it is their turn. */
  async empty(how: 'abort' | 'leave'): Promise<void> {
    for (const visitor of this.#visitors) visitor[how]();
    await settle();
    if (how === 'abort') expect(this.#shared.clock.pending()).toEqual([]);
    for (let turns = 0; turns < this.#visitors.length && this.#there.size > 0; turns += 1) {
      await this.#shared.clock.advance(longestWait);
      await settle();
    }
    expect(this.#there).toEqual(new Set());
    for (const { signal } of this.#visitors) expect(getEventListeners(signal, 'abort')).toEqual([]);
  }
}

/** `stop`: before which step nothing is given out any more; null for none. */
interface Story {
  readonly steps: readonly Step[];
  readonly stop: number | null;
  readonly end: 'abort' | 'leave';
}

const story: fc.Arbitrary<Story> = fc.record({
  steps: fc.array(step, { minLength: 5, maxLength: 40 }),
  stop: fc.option(fc.nat({ max: 40 }), { freq: 4 }),
  end: fc.constantFrom('abort', 'leave'),
});

async function assertFreeAfter({ steps, stop, end }: Story, shared: Shared): Promise<void> {
  const { clock, limit, rests = 0, assertEmpty } = shared;
  const queue = new Queue(shared);
  const isStopped = stop !== null && stop < steps.length && shared.stop !== undefined;
  for (const [index, { command, settles }] of steps.entries()) {
    if (index === stop) await queue.obey({ do: 'stop' });
    await queue.obey(command);
    if (settles) await settle();
  }
  await queue.empty(isStopped ? 'abort' : end);
  expect(clock.pending()).toEqual([]);
  assertEmpty?.();
  if (limit === undefined) return;
  await clock.advance(rests);
  const probes = Array.from({ length: limit + 1 }, () => queue.enter());
  await settle();
  expect(probes.filter(({ served }) => served)).toHaveLength(isStopped ? 0 : limit);
  await queue.empty('abort');
}

it.each<[string, number, () => Kind | Promise<Kind>]>([
  ['permits to sweep', 100, () => permits],
  ['K2 places in the rate', 100, () => rate],
  ['arrivals', 50, () => arrivals],
  ['joined work', 50, () => flights],
  ['leases of tokens', 15, leases],
  ['locks of a file', 15, () => locks],
  ['names of processes', 15, () => processes],
])('L66 %s are free again once all who waited or had one have left, however they left', async (_, numRuns, open) => {
  const kind = await open();
  await fc.assert(
    fc.asyncProperty(story, (told) => assertFreeAfter(told, kind())),
    { numRuns },
  );
});
