/** Secrets as a type that cannot be printed. */
import { inspect } from 'node:util';

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
