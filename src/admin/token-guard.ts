/**
 * Whether a request to the admin port has `admin.token`, as a bearer token or as the password of HTTP Basic, for which browsers ask.
 *
 * A wrong one is answered late: each waits a second longer than the wrong one before it that still waits, at most ten. A right one never
 * waits. So that guesses hold few connections, of more than 64 the one that has waited longest is answered. A request without any is no
 * guess: browsers send one before they ask.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { sleptThrough, type Clock } from '../domain/clock.ts';
import type { Secret } from '../domain/secret.ts';
import type { HttpRequest } from '../http/server.ts';

const [delay, maxDelay, reportEvery] = [1_000, 10_000, 3_600_000];

/** Wrong tokens whose answers wait at once. */
const maxWaiting = 64;

export interface TokenGuardOptions {
  /** Null gives access to everybody who reaches the port, which is then on this machine only. */
  readonly token: Secret | null;
  readonly clock: Clock;
  readonly onWrongToken: () => void;
  /** Called for the first wrong token, then at most once an hour, with how many came since the call before. */
  readonly onGuesses: (count: number) => void;
}

export class TokenGuard {
  readonly #options: TokenGuardOptions;
  readonly #right: Buffer | undefined;
  readonly #stopping = new AbortController();
  /** Each ends a wait; the longest first. */
  readonly #waiting = new Set<AbortController>();
  /** When the last wrong token that waits is answered, by the clock that never runs backwards. */
  #lastAnswer = -Infinity;
  #reportedAt = -Infinity;
  #unreported = 0;

  constructor(options: TokenGuardOptions) {
    this.#options = options;
    this.#right = options.token === null ? undefined : digest(options.token.reveal());
  }

  /** Whether the request may pass. Resolves late where its token is wrong. */
  async admits({ headers, signal }: Pick<HttpRequest, 'headers' | 'signal'>): Promise<boolean> {
    if (this.#right === undefined) return true;
    const sent = credential(headers.authorization ?? '');
    if (sent === '') return false;
    if (timingSafeEqual(digest(sent), this.#right)) return true;
    const { clock, onWrongToken } = this.#options;
    onWrongToken();
    this.#report(clock.monotonic());
    const early = new AbortController();
    this.#waiting.add(early);
    const [longest] = this.#waiting;
    if (this.#waiting.size > maxWaiting) longest?.abort();
    const ends = AbortSignal.any([signal, this.#stopping.signal, early.signal]);
    await sleptThrough(clock, this.#wait(clock.monotonic()), ends);
    this.#waiting.delete(early);
    return false;
  }

  /** Answers those that wait. */
  stop(): void {
    this.#stopping.abort(new Error('Stopping.'));
  }

  #wait(now: number): number {
    this.#lastAnswer = Math.min(Math.max(now, this.#lastAnswer) + delay, now + maxDelay);
    return this.#lastAnswer - now;
  }

  #report(now: number): void {
    this.#unreported += 1;
    if (now - this.#reportedAt < reportEvery) return;
    this.#options.onGuesses(this.#unreported);
    this.#reportedAt = now;
    this.#unreported = 0;
  }
}

function credential(authorization: string): string {
  const [, scheme = '', value = ''] = /^(bearer|basic) +(\S+)$/i.exec(authorization) ?? [];
  if (scheme.toLowerCase() === 'bearer') return value;
  return Buffer.from(value, 'base64')
    .toString('utf8')
    .replace(/^[^:]*:/, '');
}

/** Digests are of equal length and say nothing about where two texts differ. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
