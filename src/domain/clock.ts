/**
 * Time, timers and randomness, passed in as values: the only file that touches the machine's own. The simulation passes in virtual ones
 * and runs a year in seconds. Also moments and ages in words.
 */
import { randomBytes } from 'node:crypto';
import { agoInWords, seconds } from './duration.ts';

export interface Clock {
  /** Wall clock in milliseconds since 1970, UTC. For schedules, display and records only: it may jump, so nothing is ordered by it. */
  now(): number;
  /** Milliseconds that never run backwards, with the same origin in every process since the machine started. */
  monotonic(): number;
  /** Calls `run` once after `ms` milliseconds; the returned function cancels it. */
  timer(ms: number, run: () => void): () => void;
  /** Resolves in a later turn of the event loop, so that other work gets its share. */
  yield(): Promise<void>;
}

export interface Random {
  bytes(count: number): Uint8Array;
  /** A number from 0 up to, but not including, 1. */
  fraction(): number;
}

const maxTimer = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => Number(process.hrtime.bigint() / 1_000n) / 1_000,
  timer(ms, run) {
    assertDelay(ms);
    let handle: NodeJS.Timeout;
    const arm = (left: number): void => {
      handle = left > maxTimer ? setTimeout(() => arm(left - maxTimer), maxTimer) : setTimeout(run, left);
    };
    arm(ms);
    return () => clearTimeout(handle);
  },
  yield: () => new Promise((resolve) => setImmediate(resolve)),
};

export const systemRandom: Random = {
  bytes: (count) => randomBytes(count),
  fraction: () => Math.random(),
};

/** A delay of NaN would make a timer fire at once, forever. */
export function assertDelay(ms: number): void {
  if (!Number.isFinite(ms) || ms < 0)
    throw new RangeError(`A delay must be a finite number from 0 up, not ${String(ms)}.`);
}

/** Waits `ms` milliseconds; rejects with the signal's reason as soon as it is aborted. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  assertDelay(ms);
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(abortReason(signal));
      return;
    }
    const onAbort = (): void => {
      cancel();
      reject(abortReason(signal));
    };
    const cancel = clock.timer(ms, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** Waits `ms` milliseconds. @returns whether all of them passed; false as soon as the signal is aborted. */
export function sleptThrough(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
  return sleep(clock, ms, signal).then(
    () => true,
    () => false,
  );
}

function abortReason(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error('Aborted.');
}

/** As HTTP writes it: `Fri, 09 Oct 2020 15:25:05 GMT`. */
export function httpDate(ms: number): string {
  return new Date(ms).toUTCString();
}

/** A `Date`, for platform functions that need one. */
export function dateOf(ms: number): Date {
  return new Date(ms);
}

/** The last timestamp that was made: many rows are written in the same millisecond. */
let lastMade = { ms: NaN, text: '' };

/** The timestamp form of SQLite, UTC: `2026-11-20 18:17:00.123`. */
export function timestamp(ms: number): string {
  if (ms !== lastMade.ms) lastMade = { ms, text: new Date(ms).toISOString().replace('T', ' ').slice(0, 23) };
  return lastMade.text;
}

/**
 * Milliseconds since 1970 of a timestamp of ours, one of the service's (`2020-10-09 15:25:05`, UTC by field note), an ISO
 * instant or an HTTP date; undefined if the text is none of them.
 */
export function parseInstant(text: string): number | undefined {
  const plain = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?)$/.exec(text);
  const ms = Date.parse(plain ? `${String(plain[1])}T${String(plain[2])}Z` : text);
  return Number.isNaN(ms) ? undefined : ms;
}

/** A timestamp of ours or of the service, relative to now: `3 min ago`; `never` for null; a text that is not a time, unchanged. */
export function age(clock: Pick<Clock, 'now'>, moment: string | null): string {
  const instant = moment === null ? undefined : parseInstant(moment);
  if (instant === undefined) return moment ?? 'never';
  return agoInWords(clock.now() - instant);
}

/** The time from one timestamp to another, or to now for null: `0.4 s`, `3 min`. */
export function took(clock: Pick<Clock, 'now'>, from: string, to: string | null): string {
  const start = parseInstant(from) ?? clock.now();
  return seconds((((to === null ? undefined : parseInstant(to)) ?? clock.now()) - start) / 1_000);
}
