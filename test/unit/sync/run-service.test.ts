import { EventEmitter, once } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { RunReport } from '../../../src/sync/run.ts';
import { RunService, type RunRequest } from '../../../src/sync/run-service.ts';

/**
 * A service whose runs end when told: `begun` are their requests, `end` ends the oldest that is under way, `hasBegun` waits until so many have
 * begun.
 */
function service() {
  const begun: RunRequest[] = [];
  const begins = new EventEmitter();
  const ends: ((report: RunReport) => void)[] = [];
  const runs = new RunService((request) => {
    begun.push(request);
    begins.emit('run');
    return new Promise((resolve, reject) => {
      ends.push(resolve);
      request.signal.addEventListener('abort', () => reject(new Error('It was stopped.')));
    });
  });
  const pull = () => runs.request({ kind: 'pull', trigger: 'schedule' });
  const end = (seconds: number) => ends.shift()?.({ seconds } as RunReport);
  const hasBegun = async (count: number): Promise<void> => {
    while (begun.length < count) await once(begins, 'run');
    expect(begun).toHaveLength(count);
  };
  return { runs, begun, pull, end, hasBegun };
}

describe('runs of one account', () => {
  it('A15 a request during a run gets one later run, which it shares with all who wait', async () => {
    const { begun, pull, end, hasBegun } = service();
    const first = pull();
    await hasBegun(1);
    const [second, third] = [pull(), pull()];
    expect(begun).toHaveLength(1);
    end(1);
    expect((await first).seconds).toBe(1);
    await hasBegun(2);
    end(2);
    expect([(await second).seconds, (await third).seconds]).toEqual([2, 2]);
    expect(begun).toHaveLength(2);
  });

  it('A15 a reconciliation replaces a waiting pull', async () => {
    const { runs, begun, pull, end, hasBegun } = service();
    const waiting = [pull(), runs.request({ kind: 'reconcile', trigger: 'start' })];
    await hasBegun(1);
    end(1);
    await Promise.all(waiting);
    expect(begun.map(({ kind }) => kind)).toEqual(['reconcile']);
  });

  it('an approval counts for the waiting run, whoever requested it', async () => {
    const { runs, begun, pull, end, hasBegun } = service();
    const allowed = { kind: 'reconcile', trigger: 'command' } as const;
    const waiting = [pull(), runs.request({ ...allowed, approved: 40 }), runs.request({ ...allowed, approved: 7 })];
    await hasBegun(1);
    end(1);
    await Promise.all(waiting);
    expect(begun).toMatchObject([{ kind: 'reconcile', approved: 40 }]);
  });

  it('J1 a stop ends the current run, refuses waiting ones, and resolves when nothing runs', async () => {
    const { runs, begun, pull, hasBegun } = service();
    const first = pull();
    await hasBegun(1);
    const refused = [expect(first).rejects.toThrow('It was stopped.'), expect(pull()).rejects.toThrow('Stopping.')];
    await runs.stop();
    await Promise.all(refused);
    await expect(pull()).rejects.toThrow('Stopping.');
    expect(begun).toHaveLength(1);
  });

  it('a failed run does not prevent later ones', async () => {
    const runs = new RunService(({ kind }) =>
      kind === 'pull' ? Promise.reject(new Error('It failed.')) : Promise.resolve({ seconds: 1 } as RunReport),
    );
    await expect(runs.request({ kind: 'pull', trigger: 'schedule' })).rejects.toThrow('It failed.');
    expect((await runs.request({ kind: 'reconcile', trigger: 'schedule' })).seconds).toBe(1);
  });
});
