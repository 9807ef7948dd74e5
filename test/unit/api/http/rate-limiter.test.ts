import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConnectionRate, RateLimiter, type Turn } from '../../../../src/api/http/rate-limiter.ts';
import { sleep } from '../../../../src/domain/clock.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

/** Sends as soon as the limit allows. */
async function run<T>(
  limiter: RateLimiter,
  send: () => Promise<T>,
  { account = 'one', priority = 'prompt' }: Partial<Turn> = {},
  signal?: AbortSignal,
): Promise<T> {
  const place = await limiter.enter({ account, priority }, signal);
  try {
    return await send();
  } finally {
    limiter.leave(place);
  }
}

describe('the rate limiter', () => {
  it('admits as many requests as the rate allows and the rest a period later, in the order of arrival', async () => {
    const clock = virtualClock({ auto: true });
    const limiter = new RateLimiter({ requests: 3, per: 1_000 }, clock);
    const left: [number, number][] = [];
    await Promise.all(
      [1, 2, 3, 4, 5, 6, 7].map((name) =>
        run(limiter, () => {
          left.push([name, clock.monotonic()]);
          return Promise.resolve();
        }),
      ),
    );
    expect(left).toEqual([
      [1, 0],
      [2, 0],
      [3, 0],
      [4, 1_000],
      [5, 1_000],
      [6, 1_000],
      [7, 2_000],
    ]);
  });

  it('P8 never lets more requests into any window of the service than the rate allows, whatever network and callers do', async () => {
    const call = fc.record({
      pause: fc.nat({ max: 400 }),
      before: fc.nat({ max: 300 }),
      after: fc.nat({ max: 300 }),
      fails: fc.boolean(),
      abort: fc.option(fc.nat({ max: 500 }), { freq: 8 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 700 }),
        fc.array(call, { minLength: 1, maxLength: 25 }),
        async (requests, per, calls) => {
          const clock = virtualClock({ auto: true });
          const limiter = new RateLimiter({ requests, per }, clock);
          const arrived: number[] = [];
          const running: Promise<unknown>[] = [];
          for (const { pause, before, after, fails, abort } of calls) {
            if (pause > 0) await sleep(clock, pause);
            const controller = new AbortController();
            if (abort !== null) clock.timer(abort, () => controller.abort(new Error('enough')));
            const send = async (): Promise<void> => {
              await sleep(clock, before);
              arrived.push(clock.monotonic());
              await sleep(clock, after);
              if (fails) throw new Error('reset');
            };
            running.push(run(limiter, send, {}, controller.signal).catch(() => undefined));
          }
          await Promise.all(running);
          arrived.sort((a, b) => a - b);
          for (const [index, at] of arrived.entries())
            expect((arrived[index + requests] ?? Infinity) - at).toBeGreaterThanOrEqual(per);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('removes an aborted caller from the queue with its reason, without using up the rate', async () => {
    const clock = virtualClock();
    const limiter = new RateLimiter({ requests: 1, per: 1_000 }, clock);
    await run(limiter, () => Promise.resolve());
    const controller = new AbortController();
    const reason = new Error('stop');
    const waiting = run(limiter, () => Promise.resolve('never'), {}, controller.signal);
    const next = run(limiter, () => Promise.resolve('next'));
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await clock.advance(1_000);
    await expect(next).resolves.toBe('next');
    await expect(run(limiter, () => Promise.resolve(), {}, controller.signal)).rejects.toBe(reason);
  });

  it('listens no more to the signal of a caller that it admitted', async () => {
    const { signal } = new AbortController();
    await run(new RateLimiter({ requests: 1, per: 1_000 }, virtualClock()), () => Promise.resolve(), {}, signal);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('pauses all callers when told to, but not for longer than a minute', async () => {
    const clock = virtualClock({ auto: true });
    const limiter = new RateLimiter({ requests: 5, per: 1_000 }, clock);
    limiter.pause(300);
    await run(limiter, () => Promise.resolve());
    expect(clock.monotonic()).toBe(300);
    limiter.pause(Infinity);
    await run(limiter, () => Promise.resolve());
    expect(clock.monotonic()).toBe(60_300);
  });

  it('K13 keeps part of the rate for prompt requests, and sends them before background requests', async () => {
    const clock = virtualClock({ auto: true });
    const limiter = new RateLimiter({ requests: 4, per: 1_000 }, clock, { reservedForPrompt: 1 });
    const left: [string, number][] = [];
    const send = (name: string) => () => {
      left.push([name, clock.monotonic()]);
      return Promise.resolve();
    };
    const background = [1, 2, 3, 4, 5].map((nth) =>
      run(limiter, send(`background ${nth}`), { priority: 'background' }),
    );
    const prompt = [1, 2].map((nth) => run(limiter, send(`prompt ${nth}`)));
    await Promise.all([...background, ...prompt]);
    expect(left).toEqual([
      ['background 1', 0],
      ['background 2', 0],
      ['background 3', 0],
      ['prompt 1', 0],
      ['prompt 2', 1_000],
      ['background 4', 1_000],
      ['background 5', 1_000],
    ]);
  });

  it('L99 serves accounts in turn, however many requests of one wait', async () => {
    const clock = virtualClock({ auto: true });
    const limiter = new RateLimiter({ requests: 2, per: 1_000 }, clock);
    const left: string[] = [];
    const send = (account: string): Promise<void> =>
      run(limiter, () => Promise.resolve(void left.push(account)), { account, priority: 'background' });
    await Promise.all(['a', 'a', 'a', 'a', 'a', 'b', 'b', 'c'].map(send));
    expect(left.join('')).toBe('aaabcaba');
  });

  it('L99 a place that was not used is free at once, and a priority that has to wait lets higher ones pass', async () => {
    const clock = virtualClock({ auto: true });
    const limiter = new RateLimiter({ requests: 1, per: 1_000 }, clock);
    limiter.leave(await limiter.enter({ account: 'a', priority: 'background' }), { unsent: true });
    limiter.pause(300, 'background');
    const left: [string, number][] = [];
    const send = (priority: Turn['priority']) => (): Promise<void> =>
      Promise.resolve(void left.push([priority, clock.monotonic()]));
    const spare = run(limiter, send('spare'), { priority: 'spare' });
    await run(limiter, send('prompt'));
    await spare;
    expect(left).toEqual([
      ['prompt', 0],
      ['spare', 1_000],
    ]);
  });
});

describe('the rate of a connection', () => {
  const rateOf = (): ConnectionRate =>
    new ConnectionRate(
      'one',
      { all: { requests: 20, per: 1_000 }, post: { requests: 3, per: 1_000 }, callbacks: { requests: 2, per: 1_000 } },
      virtualClock(),
    );

  it.each([
    ['vendors', 'GET', ['all']],
    ['vendors', 'POST', ['post', 'all']],
    ['callbacks', 'GET', ['callbacks', 'all']],
    ['callbacks', 'POST', ['callbacks', 'post', 'all']],
  ])('P8 counts a request for %s by %s in each window that limits it: %j', (family, method, windows) => {
    const rate = rateOf();
    expect(rate.connection).toBe('one');
    expect(rate.windowsOf({ family, method }).map(({ window }) => window)).toEqual(windows);
  });

  it.each([
    ['prompt', { all: 20, post: 3, callbacks: 2 }],
    ['background', { all: 18, post: 3, callbacks: 2 }],
    ['spare', { all: 9, post: 1, callbacks: 1 }],
  ] as const)('P8 keeps a tenth of all requests for prompt ones: of %s ones it admits %j', (priority, expected) => {
    const windows = rateOf().windowsOf({ family: 'callbacks', method: 'POST' });
    expect(Object.fromEntries(windows.map(({ window, limiter }) => [window, limiter.limitOf(priority)]))).toEqual(
      expected,
    );
  });
});
