/** How long to wait after failures, and when to give up: for vendors that cannot be read and for webhooks that cannot be delivered alike. */

/** Failures in a row before something is given up (parked), and the shortest and longest delay between two, in milliseconds. */
const mostFailures = 12;
const shortestDelay = 5_000;
const longestDelay = 3_600_000;

/** How long a whole queue rests after a failure, at first and at most, in milliseconds. */
const firstQueueRest = 5_000;
const longestQueueRest = 60_000;

/**
 * Milliseconds before the next attempt, after so many failures in a row; undefined where it is given up. A random `fraction`, from 0 up to 1,
 * spreads the attempts.
 */
export function retryDelay(failures: number, fraction: number): number | undefined {
  if (failures >= mostFailures) return undefined;
  const ceiling = Math.min(longestDelay, shortestDelay * 2 ** failures);
  return shortestDelay + fraction * (ceiling - shortestDelay);
}

/** Milliseconds that a whole queue rests after so many failures in a row to work on it: twice as long each time. */
export function queueRest(failures: number): number {
  return Math.min(longestQueueRest, firstQueueRest * 2 ** (failures - 1));
}
