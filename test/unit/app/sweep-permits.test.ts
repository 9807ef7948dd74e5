import { describe, expect, it } from 'vitest';
import { SweepPermits } from '../../../src/app/sweep-permits.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

/** An answer that comes when told. */
function answer(): { readonly promise: Promise<string>; readonly come: () => void } {
  let come = (): void => undefined;
  const promise = new Promise<string>((resolve) => (come = () => resolve('here')));
  return { promise, come };
}

const never = new AbortController().signal;

/** Whether a promise is settled, once all that is due has happened. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const note = (): void => void (settled = true);
  promise.then(note, note);
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  return settled;
}

describe('permits to sweep', () => {
  it('are limited, and given in the order of the requests', async () => {
    const permits = new SweepPermits(1, virtualClock());
    const first = await permits.acquire(never);
    const [second, third] = [permits.acquire(never), permits.acquire(never)];
    expect(await isSettled(second)).toBe(false);
    first.release();
    first.release();
    expect(await isSettled(second)).toBe(true);
    expect(await isSettled(third)).toBe(false);
  });

  it('K17 are given up by a sweep that waits for the network, which gets one again, before others, when the answer arrives', async () => {
    const clock = virtualClock();
    const permits = new SweepPermits(1, clock);
    const slow = answer();
    const first = await permits.acquire(never);
    const waits = first.during(slow.promise);
    const second = permits.acquire(never);
    await clock.advance(999);
    expect(await isSettled(second)).toBe(false);
    await clock.advance(1);
    const held = await second;

    const third = permits.acquire(never);
    slow.come();
    expect(await isSettled(waits)).toBe(false);
    held.release();
    expect(await waits).toBe('here');
    expect(await isSettled(third)).toBe(false);
    first.release();
    expect(await isSettled(third)).toBe(true);
  });

  it('are kept while answers come', async () => {
    const clock = virtualClock();
    const permits = new SweepPermits(1, clock);
    const first = await permits.acquire(never);
    const second = permits.acquire(never);
    for (let page = 0; page < 5; page++) {
      await clock.advance(900);
      await first.during(Promise.resolve());
    }
    expect(await isSettled(second)).toBe(false);
  });

  it('end waiting sweeps by their signals, and are not given after the stop', async () => {
    const permits = new SweepPermits(1, virtualClock());
    const first = await permits.acquire(never);
    const stopping = new AbortController();
    const [second, third] = [permits.acquire(stopping.signal), permits.acquire(never)];
    stopping.abort(new Error('Stopping.'));
    await expect(second).rejects.toThrow('Stopping.');
    await permits.stop();
    first.release();
    expect(await isSettled(third)).toBe(false);
  });
});
