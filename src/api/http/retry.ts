/**
 * Retries one request. p-retry counts the attempts; the waiting is ours, because p-retry uses the machine's timers, where a simulation has
 * a virtual clock, and does not know `Retry-After`.
 */
import pRetry from 'p-retry';
import { parseInstant, sleep, type Clock, type Random } from '../../domain/clock.ts';
import { MirrorError, withMessage } from '../../domain/errors.ts';
import { requestDelay, type RetryLimits } from '../../domain/retry.ts';

export interface RetryPolicy {
  readonly clock: Clock;
  readonly random: Random;
  readonly retryLimits: RetryLimits;
  readonly signal?: AbortSignal | undefined;
  readonly mayRetry: (error: MirrorError, attempts: number) => boolean;
  /** Called before each wait. */
  readonly onWait: (error: MirrorError, wait: number) => void;
}

/**
 * Runs `attempt`, and again while `mayRetry` allows it and the limits are not reached. Waits as long as the service asks, otherwise
 * exponentially with full jitter.
 * @throws the last error; after several attempts its message says how many and over how long.
 */
export async function retried<T>(attempt: (number: number) => Promise<T>, policy: RetryPolicy): Promise<T> {
  const { clock, retryLimits, signal } = policy;
  const begun = clock.monotonic();
  let waited = 0;
  let attempts = 0;

  const waitAndRetry = async (error: Error): Promise<boolean> => {
    if (!(error instanceof MirrorError) || !policy.mayRetry(error, attempts)) return false;
    const wait = error.retryAfter ?? requestDelay(attempts, policy.random.fraction(), retryLimits);
    if (error.retryAfter !== undefined && wait > Math.min(retryLimits.maxWait, retryLimits.totalWait - waited))
      throw rateExceeded(error, wait);
    if (waited + wait > retryLimits.totalWait) return false;
    policy.onWait(error, wait);
    waited += wait;
    await sleep(clock, wait, signal);
    return true;
  };

  try {
    return await pRetry(
      (number) => {
        attempts = number;
        return attempt(number);
      },
      {
        retries: retryLimits.attempts - 1,
        shouldRetry: ({ error }) => waitAndRetry(error),
        signal,
        // All options are given: filling in the defaults costs p-retry ten times the rest of its work.
        factor: 1,
        minTimeout: 0,
        maxTimeout: 0,
        maxRetryTime: Infinity,
        randomize: false,
        onFailedAttempt: () => undefined,
        shouldConsumeRetry: () => true,
      },
    );
  } catch (error) {
    if (attempts < 2 || !(error instanceof MirrorError) || error === signal?.reason) throw error;
    const seconds = Math.round((clock.monotonic() - begun) / 1_000);
    throw withMessage(error, `${error.message} Gave up after ${attempts} attempts over ${seconds} s.`);
  }
}

function rateExceeded(error: MirrorError, wait: number): MirrorError {
  const asked = wait < longest ? `${Math.round(wait / 1_000)} s` : 'an hour or more';
  return withMessage(
    error,
    `${error.message} It asks for a wait of ${asked}, which is longer than a request may wait.`,
  );
}

const shortest = 1_000;
const longest = 3_600_000;

/**
 * Milliseconds of a `Retry-After` header, limited to between one second and one hour; undefined where it is missing or invalid. A date is
 * compared with the answer's own `Date` header where there is one, so that a wrong clock of this machine does not matter. Use it only for
 * 429 and 503: the service also sends it with success.
 */
export function retryAfter(headers: Pick<Headers, 'get'>, now: number): number | undefined {
  const text = headers.get('retry-after')?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return clamp(Number(text) * 1_000);
  const until = /[A-Za-z]{3}/.test(text) ? parseInstant(text) : undefined;
  if (until === undefined) return undefined;
  return clamp(until - (parseInstant(headers.get('date') ?? '') ?? now));
}

/**
 * Milliseconds until the moment of an `X-RateLimit-Reset` header, in seconds since 1970, by the answer's own `Date` header where there is
 * one; undefined where it is missing, invalid or past.
 */
export function untilReset(headers: Pick<Headers, 'get'>, now: number): number | undefined {
  const text = headers.get('x-ratelimit-reset')?.trim() ?? '';
  if (!/^\d+(\.\d+)?$/.test(text)) return undefined;
  const wait = Number(text) * 1_000 - (parseInstant(headers.get('date') ?? '') ?? now);
  return wait > 0 ? wait : undefined;
}

function clamp(ms: number): number {
  return Math.min(longest, Math.max(shortest, ms));
}
