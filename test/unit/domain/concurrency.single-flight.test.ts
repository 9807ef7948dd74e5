import { describe, expect, it } from 'vitest';
import { SingleFlight } from '../../../src/domain/concurrency.ts';

/** Work that ends when it is told to, and counts how often it was begun. */
function work() {
  const begun: { resolve: (text: string) => void; reject: (error: Error) => void }[] = [];
  const run = (): Promise<string> => new Promise((resolve, reject) => begun.push({ resolve, reject }));
  return { begun, run };
}

describe('requests for the same work', () => {
  it('that arrive while it is under way share it, and a later one starts it again', async () => {
    const { begun, run } = work();
    const flight = new SingleFlight<string>();
    const both = Promise.all([flight.run(run), flight.run(run)]);
    expect(begun).toHaveLength(1);
    begun[0]?.resolve('first');
    expect(await both).toEqual(['first', 'first']);
    const later = flight.run(run);
    begun[1]?.resolve('second');
    expect(await later).toBe('second');
  });

  it('that share a failing one all fail, and `idle` does not', async () => {
    const { begun, run } = work();
    const flight = new SingleFlight<string>();
    const both = Promise.allSettled([flight.run(run), flight.run(run)]);
    begun[0]?.reject(new Error('no'));
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(flight.idle()).resolves.toBeUndefined();
  });

  it('that arrive after a kept outcome get it, and after a failure that is not kept start it again', async () => {
    const { begun, run } = work();
    const flight = new SingleFlight<string>((outcome) => outcome === 'done');
    const failing = flight.run(run).catch(String);
    begun[0]?.reject(new Error('no'));
    expect(await failing).toBe('Error: no');
    const done = flight.run(run);
    begun[1]?.resolve('kept');
    expect([await done, await flight.run(run)]).toEqual(['kept', 'kept']);
    expect(begun).toHaveLength(2);
  });
});
