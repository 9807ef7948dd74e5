/** Secrets as a type that cannot be printed. */
import { inspect } from 'node:util';

/**
 * Whether a secret that a person chose is soon guessed: it is shorter than `characters`, blanks and what cannot be seen left aside, or has
 * only a few different ones.
 */
export function isWeak(text: string, characters: number): boolean {
  const visible = Array.from(text.replaceAll(/[\p{Z}\p{C}\u{2800}]/gu, ''));
  return visible.length < characters || new Set(visible).size < 6;
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
