/** Counts requests against a limit for each account and family. */
import type { World } from './worlds.ts';

export interface RateLimits {
  readonly vendors: number;
  readonly callbacks: number;
  readonly windowSeconds: number;
}

export const usualLimits: RateLimits = { vendors: 600, callbacks: 20, windowSeconds: 60 };

/** One family's requests of one account. */
export class RateMeter {
  readonly #limit: number;
  readonly #window: number;
  readonly #sliding: boolean;
  /** When the counted requests came, in milliseconds; a refused one is not counted. */
  #times: number[] = [];

  constructor(limit: number, windowSeconds: number, kind: World['rateWindow']) {
    this.#limit = limit;
    this.#window = windowSeconds * 1_000;
    this.#sliding = kind === 'sliding';
  }

  /** Counts one request. Its headers stand on every answer, on success too. */
  count(now: number): { allowed: boolean; headers: Record<string, string> } {
    this.#forget(now);
    const allowed = this.#times.length < this.#limit;
    if (allowed) this.#times.push(now);
    const reset = (this.#times[0] ?? now) + this.#window;
    return {
      allowed,
      headers: {
        'x-ratelimit-limit': String(this.#limit),
        'x-ratelimit-remaining': String(this.#limit - this.#times.length),
        'x-ratelimit-reset': String(Math.ceil(reset / 1_000)),
        'retry-after': String(Math.max(1, Math.ceil((reset - now) / 1_000))),
      },
    };
  }

  /** A fixed window ends as a whole, a sliding one with each request. */
  #forget(now: number): void {
    const expired = (time: number | undefined): boolean => time !== undefined && time <= now - this.#window;
    if (!this.#sliding) {
      if (expired(this.#times[0])) this.#times = [];
      return;
    }
    const firstKept = this.#times.findIndex((time) => !expired(time));
    this.#times.splice(0, firstKept === -1 ? this.#times.length : firstKept);
  }
}
