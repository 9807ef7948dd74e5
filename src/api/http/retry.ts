/**
 * Retries one request. p-retry counts the attempts; the waiting is ours, because p-retry uses the machine's timers, where a simulation has
 * a virtual clock, and does not know `Retry-After`.
 */
import pRetry from 'p-retry';
import { sleep, type Clock, type Random } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import { requestDelay, type RetryLimits } from '../../domain/retry/request-policy.ts';
import { withMessage } from '../../domain/with-message.ts';

export interface RetryPolicy {
  readonly clock: Clock;
  readonly random: Random;
  readonly retryLimits: RetryLimits;
  readonly signal?: AbortSignal | undefined;
  /** Whether a retry may help after this error. */
  readonly mayRetry: (error: MirrorError) => boolean;
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
    if (!(error instanceof MirrorError) || !policy.mayRetry(error)) return false;
    const wait = error.retryAfter ?? requestDelay(attempts, policy.random.fraction(), retryLimits);
    if (error.retryAfter !== undefined && wait > Math.min(retryLimits.longestWait, retryLimits.totalWait - waited))
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
  return withMessage(
    error,
    `${error.message} It asks for a wait of ${Math.round(wait / 1_000)} s, which is longer than a request may wait.`,
  );
}
