/** Secrets as a type that cannot be printed. */
import { inspect } from 'node:util';

/** The rows of a keyboard. */
const keys = 'qwertyuiop asdfghjkl zxcvbnm';

/** How much of a secret, of its fewest characters, must not be foreseen from what stands before. */
const surprising = 0.8;

/**
 * Whether a secret that a person chose is soon guessed: it has fewer than `characters`, blanks and what cannot be seen left aside, only a few
 * different ones, or too many that repeat a part of it, count on, or go along the keyboard.
 */
export function isWeak(text: string, characters: number): boolean {
  const visible = Array.from(text.replaceAll(/[\p{Z}\p{C}\u{2800}]/gu, ''));
  const pairs = new Set<string>();
  let steps = [0, 0];
  const news = visible.filter((one, at) => {
    const before = visible[at - 1] ?? '';
    const pair = before + one;
    const isKnown = pairs.has(pair);
    pairs.add(pair);
    const now = [codeOf(one) - codeOf(before), keyOf(one) - keyOf(before)];
    const goesOn = now.some((step, kind) => Math.abs(step) <= 1 && step === steps[kind]);
    steps = now;
    return !isKnown && !goesOn;
  });
  return visible.length < characters || new Set(visible).size < 6 || news.length < surprising * characters;
}

const codeOf = (one: string): number => one.codePointAt(0) ?? Infinity;

/** Its place on the keyboard; none for what is no letter. */
function keyOf(one: string): number {
  const place = keys.indexOf(one.toLowerCase());
  return place < 0 ? NaN : place;
}

/** A token, verifier or path token. Printing, logging or serialising it shows `[redacted]`; only `reveal` gives it out. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '[redacted]';
  }

  toJSON(): string {
    return '[redacted]';
  }

  [inspect.custom](): string {
    return '[redacted]';
  }
}

/** An OAuth token pair. The refresh token works once; `expiresAt` is the expiry of the access token, milliseconds since 1970. */
export interface TokenPair {
  readonly access: Secret;
  readonly refresh: Secret;
  readonly expiresAt: number;
}
