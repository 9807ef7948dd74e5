/**
 * The service's rate limits, per token or per account and family (world `rateScope`). A request that is refused is not counted, and every
 * answer says what is left of the narrowest limit that its request counts against.
 */
import type { World } from './worlds.ts';

export interface RateLimits {
  /** All requests of a token; of an account, those for vendors and gateways. */
  readonly all: number;
  /** POSTs of a token, which count as all others do too; default: no limit of their own. */
  readonly post?: number;
  /** Requests for callbacks, which count among all requests of a token too. */
  readonly callbacks: number;
  readonly windowSeconds: number;
}

export const usualLimits: RateLimits = { all: 600, post: 250, callbacks: 20, windowSeconds: 60 };

/** What a request is counted by. */
interface Counted {
  readonly token: string;
  readonly account: string;
  readonly area: 'accounting' | 'events';
  readonly method: string;
}

interface Metered {
  readonly allowed: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

export class RateMeters {
  readonly #limits: RateLimits;
  readonly #world: Pick<World, 'rateScope' | 'rateWindow'>;
  readonly #meters = new Map<string, RateMeter>();

  constructor(limits: RateLimits, world: Pick<World, 'rateScope' | 'rateWindow'>) {
    this.#limits = limits;
    this.#world = world;
  }

  count(request: Counted, now: number): Metered {
    const meters = this.#of(request);
    const allowed = meters.every((meter) => meter.hasRoom(now));
    if (allowed) for (const meter of meters) meter.add(now);
    const told = meters.find((meter) => !meter.hasRoom(now)) ?? meters[0];
    return { allowed, headers: told?.headers(now) ?? {} };
  }

  /** The narrowest first. */
  #of({ token, account, area, method }: Counted): RateMeter[] {
    const { all, post, callbacks } = this.#limits;
    if (this.#world.rateScope === 'account')
      return [this.#meter(`${account} ${area}`, area === 'events' ? callbacks : all)];
    return [
      ...(area === 'events' ? [this.#meter(`${token} callbacks`, callbacks)] : []),
      ...(method === 'POST' && post !== undefined ? [this.#meter(`${token} post`, post)] : []),
      this.#meter(token, all),
    ];
  }

  #meter(key: string, limit: number): RateMeter {
    const known = this.#meters.get(key);
    if (known) return known;
    const meter = new RateMeter(limit, this.#limits.windowSeconds, this.#world.rateWindow);
    this.#meters.set(key, meter);
    return meter;
  }
}

class RateMeter {
  readonly #limit: number;
  readonly #window: number;
  readonly #sliding: boolean;
  /** When the counted requests came, in milliseconds. */
  #times: number[] = [];

  constructor(limit: number, windowSeconds: number, kind: World['rateWindow']) {
    this.#limit = limit;
    this.#window = windowSeconds * 1_000;
    this.#sliding = kind === 'sliding';
  }

  hasRoom(now: number): boolean {
    this.#forget(now);
    return this.#times.length < this.#limit;
  }

  add(now: number): void {
    this.#times.push(now);
  }

  /** They stand on every answer, on success too. */
  headers(now: number): Record<string, string> {
    const reset = (this.#times[0] ?? now) + this.#window;
    return {
      'x-ratelimit-limit': String(this.#limit),
      'x-ratelimit-remaining': String(this.#limit - this.#times.length),
      'x-ratelimit-reset': String(Math.ceil(reset / 1_000)),
      'retry-after': String(Math.max(1, Math.ceil((reset - now) / 1_000))),
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
