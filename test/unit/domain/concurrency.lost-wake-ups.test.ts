/**
 * Whatever waits and works sees each change without another one, also a change during its work: the same change is made at each moment at
 * which a round awaits something, one moment after the other.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { FiguresCache } from '../../../src/admin/page/figures-cache.ts';
import { RequestFailureLog } from '../../../src/app/connections.ts';
import { Publications } from '../../../src/app/publications.ts';
import { systemRandom } from '../../../src/domain/clock.ts';
import { ArrivalSignal, inBatches } from '../../../src/domain/concurrency.ts';
import { MirrorError } from '../../../src/domain/errors.ts';
import { silentLog } from '../../../src/domain/log.ts';
import { RunService } from '../../../src/sync/run-service.ts';
import { RequestedSweeps } from '../../../src/sync/sweep-requests.ts';
import type { SyncAccount } from '../../../src/sync/sync-account.ts';
import { Worker } from '../../../src/sync/worker.ts';
import type { CallbacksApi } from '../../../src/api/client.ts';
import { Secret } from '../../../src/domain/secret.ts';
import type { Store } from '../../../src/store/mirror.ts';
import type { PublicationRow } from '../../../src/store/publications.ts';
import type { Outbox } from '../../../src/store/outbox.ts';
import { TargetSender } from '../../../src/notify/target-sender.ts';
import type { Feed } from '../../../src/notify/feed.ts';
import type { Verifiers } from '../../../src/store/secrets/verifiers.ts';
import { SubscriptionManager } from '../../../src/webhook/subscription-manager.ts';
import { virtualClock, type VirtualClock } from '../../support/virtual-clock.ts';

interface Working {
  readonly start?: () => Promise<void>;
  /** Something changes, and whoever should know is told. */
  readonly change: () => void;
  /** Whether the work has dealt with all changes. */
  readonly isSeen: () => boolean | Promise<boolean>;
  readonly stop?: () => Promise<void>;
  /** How long a change may stay unseen, in milliseconds; 0 where it is not. */
  readonly within?: number;
}

/** A moment at which the work awaits something. */
type Moment = () => Promise<void>;

type Open = (moment: Moment, clock: VirtualClock) => Working | Promise<Working>;

const noFailures = { failures: 0, remedy: null, code: null, error: null };

const publications: Open = (moment, clock) => {
  let [now, written] = [1, 0];
  let known: PublicationRow | undefined;
  const copies = new Publications({
    settings: {
      ...{ publish: [{ path: 'a.csv', when: 'change' }], secrets: 'secrets.db', readFrom: [] },
      schedule: { timezone: 'UTC' },
    },
    mirror: {
      publishedAt: () => 1,
      publications: {
        place: () => Promise.resolve(`0123456789abcdef:${now}`),
        find: () => Promise.resolve(known),
        async wrote(path, state) {
          await moment();
          known = { ...{ path, ...state, written_at: null, failing_since: null, failed_at: null }, ...noFailures };
        },
        failed: () => Promise.resolve(),
      },
      publish: async () => {
        await moment();
        const copied = now;
        await moment();
        written = copied;
        await moment();
        return { noTimes: 0 };
      },
    },
    ...{ program: '', clock, random: systemRandom, log: silentLog },
  });
  const change = (): void => {
    now += 1;
  };
  return {
    ...{ change, isSeen: () => written === now, start: () => copies.start(), stop: () => copies.stop() },
    within: 6_000,
  };
};

const worker: Open = (moment, clock) => {
  let [marks, due]: [number, { vendorid: number; attempts: number }[]] = [0, []];
  const answer = async <T>(value: () => T): Promise<T> => {
    await moment();
    const answered = value();
    await moment();
    return answered;
  };
  const account = {
    ...{ accountId: 'a', clock, log: silentLog, concurrency: 4, sync: { lag: 0 } },
    mirror: {
      queue: {
        outlook: () => answer(() => ({ moment: 0, isEmpty: due.length === 0 })),
        dueMarks: () => answer(() => [...due]),
        untilNextMark: () => answer(() => (due.length > 0 ? 0 : undefined)),
      },
      vendors: {},
    },
    reader: { isOffered: () => answer(() => false) },
  } as unknown as SyncAccount;
  const works = new Worker(account, () =>
    answer(() => {
      due = [];
      return { error: undefined };
    }),
  );
  const change = (): void => {
    due.push({ vendorid: (marks += 1), attempts: 0 });
    works.wake();
  };
  return { change, isSeen: () => due.length === 0, start: () => works.start(), stop: () => works.stop() };
};

const requestedSweeps: Open = (moment, clock) => {
  let [requested, answered] = [0, 0];
  const account = {
    ...{ accountId: 'a', clock, log: silentLog, sync: { lag: 0, secondLook: 0 } },
    mirror: {
      moment: () => 1,
      sweepRequests: {
        sweepRequest: async () => {
          await moment();
          const open =
            requested > answered ? { generation: requested, askedMs: 0, lastMs: 0, restUntilMs: 0 } : undefined;
          await moment();
          return open;
        },
      },
    },
  } as unknown as SyncAccount;
  const sweeps = new RequestedSweeps(account, async () => {
    const begun = requested;
    await moment();
    answered = begun;
    await moment();
  });
  const change = (): void => {
    requested += 1;
    sweeps.wake();
  };
  return { change, isSeen: () => answered === requested, start: () => sweeps.start(), stop: () => sweeps.stop() };
};

const runs: Open = (moment) => {
  let [now, seen] = [0, 0];
  const service = new RunService(async () => {
    await moment();
    const begun = now;
    await moment();
    seen = begun;
    return {} as never;
  });
  const change = (): void => {
    now += 1;
    void service.request({ kind: 'pull', trigger: 'schedule' } as never);
  };
  return { change, isSeen: () => seen === now, stop: () => service.stop() };
};

const figures: Open = (moment, clock) => {
  let now = 0;
  const cache = new FiguresCache(
    clock,
    async () => {
      await moment();
      const read = now;
      await moment();
      return read as never;
    },
    () => undefined,
  );
  return {
    within: 1_000,
    change: () => {
      now += 1;
      void cache.of('a');
    },
    isSeen: async () => ((await cache.of('a')) as unknown) === now,
  };
};

const batches: Open = (moment, clock) => {
  let [items, done] = [0, 0];
  const work = inBatches(clock, async (group: readonly number[]) => {
    await moment();
    return group;
  });
  const change = (): void => {
    items += 1;
    void work(items).then(() => (done += 1));
  };
  return { change, isSeen: () => done === items };
};

const arrivals: Open = (moment, clock) => {
  const signal = new ArrivalSignal();
  let [now, seen] = [0, 0];
  const stopping = new AbortController();
  const loop = async (): Promise<void> => {
    for (;;) {
      const before = signal.count;
      await moment();
      seen = now;
      await moment();
      await signal.waitForMore(before, 60_000, clock, stopping.signal);
    }
  };
  const running = loop().catch(() => undefined);
  const change = (): void => {
    now += 1;
    signal.notify();
  };
  return {
    ...{ change, isSeen: () => seen === now },
    stop: async () => {
      stopping.abort(new Error('Stopping.'));
      await running;
    },
  };
};

/** The service answers while a failure is recorded, and fails again meanwhile: the record tells the last of both. */
const failures: Open = (moment) => {
  let [isFailing, isRecorded] = [false, false];
  const write = async (recorded: boolean): Promise<void> => {
    isRecorded = recorded;
    await moment();
    await moment();
  };
  const log = new RequestFailureLog({
    failures: { add: () => write(true), forget: () => write(false) },
    clock: { monotonic: () => 0 },
    log: silentLog,
  });
  const fail = (): void => {
    isFailing = true;
    log.failed('a', new MirrorError('service_timeout', 'Slow.'));
  };
  let begun = false;
  return {
    change: () => {
      fail();
      if (begun) return;
      begun = true;
      isFailing = false;
      void log.answered('a');
    },
    isSeen: () => isRecorded === isFailing,
  };
};

/**
 * A verification code arrives, also during a check that fails: it is tried without waiting for the next check. Or nothing is delivered any
 * more, during a check and right before the next one: new codes are requested all the same.
 */
const callbacks =
  (fails: boolean, isSilent = false): Open =>
  (moment, clock) => {
    const pathToken = new Secret('p'.repeat(43));
    let [arrived, tried, listings, renewed] = [0, 0, 0, false];
    const answer = async <T>(value: () => T): Promise<T> => {
      await moment();
      const answered = value();
      await moment();
      return answered;
    };
    const callback = {
      callbackid: 1,
      event: 'bill_vendor',
      uri: `http://127.0.0.1:9/webhooks/a/${pathToken.reveal()}`,
    };
    const manager: SubscriptionManager = new SubscriptionManager({
      ...{ accountId: 'a', publicUrl: 'http://127.0.0.1:9', events: ['bill_vendor'], clock, log: silentLog },
      causes: { failed: () => undefined, worked: () => undefined },
      callbacks: {
        list: () => {
          listings += 1;
          const isFailing = fails && listings === 1;
          return answer(() => {
            if (isFailing) throw new MirrorError('service_timeout', 'Slow.');
            return [{ ...callback, verified: isSilent || (tried > 0 && tried === arrived) }];
          });
        },
        // Only the last code that arrived is right.
        verify: () => answer(() => ({ ...callback, verified: (tried = arrived) > 0 })),
        resend: () => {
          renewed = true;
          return answer(() => ({ ...callback, verified: false }));
        },
      } as unknown as CallbacksApi,
      mirror: {
        callbacks: {
          knownCallbacks: () => answer(() => []),
          replaceCallbacks: () => answer(() => undefined),
          refusals: () => answer(() => []),
          proven: () => answer(() => undefined),
          replaceRefusals: () => answer(() => undefined),
        },
      } as unknown as Pick<Store, 'callbacks'>,
      verifiers: {
        addressTokens: () => answer(() => ({ current: pathToken, previous: undefined })),
        hasKey: () => answer(() => tried === arrived),
        candidates: () => answer(() => (tried < arrived ? [pathToken] : [])),
        expect: () => answer(() => undefined),
        expectNone: () => answer(() => undefined),
        prove: () => answer(() => undefined),
      } as unknown as Verifiers,
      asking: {
        fetch: () => Promise.reject(new Error('Nobody is asked.')),
        clock,
        isOfMirror: () => Promise.resolve(false),
      },
      withPermit: (work) => work(),
      onVerified: () => undefined,
      onTokens: () => undefined,
      onRotated: () => Promise.resolve(),
      onWrongCode: () => undefined,
    });
    let silences = 0;
    if (isSilent)
      return {
        change: () => {
          silences += 1;
          if (silences === 2) void manager.resendIfSilent();
          else void manager.check().then(() => manager.check());
        },
        isSeen: () => renewed === silences > 1,
        stop: () => manager.stop(),
      };
    const change = (): void => {
      arrived += 1;
      manager.codeArrived();
    };
    // A code of which the check itself failed waits for the next check.
    const isLeft = (): boolean => fails && arrived === 1;
    return { change, isSeen: () => isLeft() || tried === arrived, stop: () => manager.stop() };
  };

const webhookTarget: Open = (moment, clock) => {
  let [changes, enqueued, sent] = [0, 0, 0];
  const answer = async <T>(value: () => T): Promise<T> => {
    await moment();
    const answered = value();
    await moment();
    return answered;
  };
  const vendor = { target: 'a', account_id: 'a', vendorid: 1, after_seq: 0, attempts: 0 };
  const sender = new TargetSender({
    target: { name: 'a', url: 'http://127.0.0.1:9', secret: new Secret('whsec_MfKQ9r8GKYqrTwjU'), timeout: 60_000 },
    feed: {
      open: () => answer(() => undefined),
      enqueueChanges: () => answer(() => enqueued < changes && (enqueued = changes) > 0),
    } as unknown as Feed,
    outbox: {
      pendingWork: () => answer(() => ({ due: sent < enqueued ? [vendor] : [] })),
      nextChange: () => answer(() => ({ seq: sent + 1, cursor: 'a:1', kind: 'updated', at: '2026-11-27 10:00:00' })),
      delivered: (_: unknown, seq: number) => answer(() => void (sent = seq)),
    } as unknown as Outbox,
    post: () => answer(() => 200),
    ...{ clock, random: systemRandom, log: silentLog, grace: 0, observe: () => undefined },
  });
  return {
    // The feed is read twice a second.
    within: 500,
    change: () => void (changes += 1),
    isSeen: () => sent === changes,
    start: () => sender.start(),
    stop: () => sender.stop(),
  };
};

async function settle(): Promise<void> {
  for (let turns = 0; turns < 12; turns += 1) await turn();
}

/** Makes a change at the `nth` moment of the work that an earlier one began. @returns whether there was such a moment. */
async function changedAt(open: Open, nth: number): Promise<boolean> {
  const clock = virtualClock();
  let [isArmed, moments] = [false, 0];
  const working = await open(async () => {
    if (isArmed && moments++ === nth) working.change();
    await turn();
  }, clock);
  await working.start?.();
  await settle();
  isArmed = true;
  working.change();
  await settle();
  await clock.advance(working.within ?? 0);
  await settle();
  isArmed = false;
  await settle();
  await clock.advance(working.within ?? 0);
  await settle();
  const isSeen = await working.isSeen();
  await working.stop?.();
  expect(isSeen, `a change at moment ${nth + 1}`).toBe(true);
  return moments > nth;
}

it.each<[string, number, Open]>([
  ['copies for readers', 3, publications],
  ['the queue of marked vendors', 4, worker],
  ['sweeps that deliveries request', 4, requestedSweeps],
  ['runs', 2, runs],
  ['figures of the page', 2, figures],
  ['work in batches', 1, batches],
  ['waits for an arrival', 2, arrivals],
  ['records of failing requests', 2, failures],
  ['codes of a verification', 10, callbacks(false)],
  ['codes that arrive during a check that fails', 5, callbacks(true)],
  ['the renewal of callbacks that are silent', 5, callbacks(false, true)],
  ['a target of webhooks', 10, webhookTarget],
])('L72 %s: a change at each moment of the work is seen without another', async (_, atLeast, open) => {
  let nth = 0;
  while (await changedAt(open, nth)) nth += 1;
  expect(nth).toBeGreaterThanOrEqual(atLeast);
});
