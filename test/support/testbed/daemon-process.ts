/** `serve` in a process of its own: its output, its end, and the outcomes of its deliveries. */
import { once } from 'node:events';
import type { ChildProcess } from 'node:child_process';
import { setTimeout as later } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { SeededRandom } from '../../../src/sandbox/core/random.ts';
import { changeSomething } from '../../../src/sandbox/account/churn.ts';
import type { EmbeddedSandbox } from '../../../src/sandbox/embedded.ts';
import type { Attempt } from '../../../src/sandbox/delivery/delivery-sender.ts';

export interface DaemonProcess {
  readonly child: ChildProcess;
  /** What it wrote on standard error so far. */
  readonly stderr: () => string;
  /** Resolves once standard error holds the text; rejects if the process ends without. */
  logged(text: string): Promise<void>;
  /** Resolves once a reconciliation is complete. */
  swept(): Promise<void>;
  /** Its exit status, once it has ended; null where a signal ended it. */
  readonly ended: Promise<number | null>;
  /** Sends the signal, unless the process has ended, and waits for its end. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

/** What a daemon writes and how it ends. */
export function watched(child: ChildProcess): DaemonProcess {
  let stderr = '';
  child.stdout?.resume();
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = once(child, 'close').then(() => child.exitCode);
  const logged = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (stderr.includes(text)) resolve();
      };
      child.stderr?.on('data', look);
      child.once('close', () => reject(new Error(`The daemon ended without saying ${text}:\n${stderr}`)));
      look();
    });
  return {
    child,
    stderr: () => stderr,
    logged,
    swept: () => logged('"msg":"reconcile complete"'),
    ended,
    end(signal = 'SIGTERM') {
      if (child.exitCode === null) child.kill(signal);
      return ended;
    },
  };
}

/** Resolves when `holds` does. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await later(10);
}

/** Changes something at the service every `pace` milliseconds, until told to stop. */
export function flow({ sandbox, account }: EmbeddedSandbox, random: SeededRandom, pace = 10): () => void {
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  onTestFinished(stop);
  void (async () => {
    while (!stopping.signal.aborted) {
      changeSomething(sandbox.vendors(account), random);
      await later(pace);
    }
  })();
  return stop;
}

/** Whether a true delivery was answered with 2xx. */
export function isTaken({ kind, outcome }: Attempt): boolean {
  return outcome === 'acknowledged' && (kind === 'event' || kind === 'repeat');
}

/** Resolves with the nth delivery that the daemon takes from now on; rejects if it ends before. */
export function taken(daemon: DaemonProcess, { sandbox }: EmbeddedSandbox, nth: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let left = nth;
    const stop = sandbox.onDelivery((attempt) => {
      if (!isTaken(attempt) || --left > 0) return;
      stop();
      resolve();
    });
    void daemon.ended.then(() => {
      stop();
      reject(new Error(`The daemon ended by itself:\n${daemon.stderr()}`));
    });
  });
}

/** Deliveries that were answered with 2xx and do not stand in the journal, in words. */
export function missing(at: { query<Row>(sql: string): Row[] }, { sandbox }: EmbeddedSandbox): string[] {
  const journal = new Map(
    at
      .query<{ what: string; n: number }>(
        `SELECT name || ' ' || object_id AS what, count(*) AS n FROM deliveries GROUP BY 1`,
      )
      .map(({ what, n }) => [what, n]),
  );
  const answered = new Map<string, number>();
  for (const { event, objectId } of sandbox.deliveries().filter(isTaken)) {
    const what = `${event} ${objectId}`;
    answered.set(what, (answered.get(what) ?? 0) + 1);
  }
  return [...answered]
    .filter(([what, n]) => (journal.get(what) ?? 0) < n)
    .map(([what, n]) => `${what}: answered ${n} times, journalled ${journal.get(what) ?? 0} times`);
}
