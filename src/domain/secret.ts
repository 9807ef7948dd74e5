/** Secrets as a type that cannot be printed. */
import { inspect } from 'node:util';

/**
 * Whether a secret that a person chose is soon guessed: it is shorter than `characters`, blanks and what cannot be seen left aside, has
 * only a few different ones, repeats a part that is shorter, or mostly counts up or down.
 */
export function isWeak(text: string, characters: number): boolean {
  const visible = Array.from(text.replaceAll(/[\p{Z}\p{C}\u{2800}]/gu, ''));
  const repeats = (length: number): boolean => visible.every((one, at) => one === visible[at % length]);
  const parts = Array.from({ length: Math.min(characters - 1, visible.length >> 1) }, (_, index) => index + 1);
  const codes = visible.map((one) => one.codePointAt(0) ?? 0);
  const steps = codes.filter((code, at) => Math.abs(code - (codes[at - 1] ?? Infinity)) <= 1);
  return (
    visible.length < characters ||
    new Set(visible).size < 6 ||
    parts.some(repeats) ||
    steps.length >= 0.75 * (visible.length - 1)
  );
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
