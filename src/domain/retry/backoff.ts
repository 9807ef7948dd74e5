/** Delays after failures, and when to give up: for vendors that cannot be read and for webhooks that cannot be delivered. */

/** Consecutive failures before something is parked, and the shortest and longest delay between attempts, in milliseconds. */
const mostFailures = 12;
const shortestDelay = 5_000;
const longestDelay = 3_600_000;

/** How long a whole queue pauses after a failure, at first and at most, in milliseconds. */
const firstQueuePause = 5_000;
const longestQueuePause = 60_000;

/**
 * Milliseconds before the next attempt, after this many consecutive failures; undefined where it is time to give up. A random `fraction`, from
 * 0 up to 1, spreads the attempts.
 */
export function retryDelay(failures: number, fraction: number): number | undefined {
  if (failures >= mostFailures) return undefined;
  const ceiling = Math.min(longestDelay, shortestDelay * 2 ** failures);
  return shortestDelay + fraction * (ceiling - shortestDelay);
}

/** Milliseconds that a whole queue pauses after this many consecutive failures: doubled each time. */
export function queuePause(failures: number): number {
  return Math.min(longestQueuePause, firstQueuePause * 2 ** (failures - 1));
}
