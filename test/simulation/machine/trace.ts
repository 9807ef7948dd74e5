/** What happened, in order: a hash of all of it, and the lines themselves where somebody wants to read them. */
import { createHash } from 'node:crypto';

/** So many are hashed at once: for each alone, the call would cost more than the hash. */
const manyLines = 64;

export class Trace {
  readonly #hash = createHash('sha256');
  /** Lines that are not in the hash yet. */
  readonly #fresh: string[] = [];
  readonly #now: () => number;
  readonly #listen: ((line: string) => void) | undefined;

  constructor(now: () => number, listen?: (line: string) => void) {
    this.#now = now;
    this.#listen = listen;
  }

  write(...words: readonly (string | number)[]): void {
    const line = `${this.#now().toFixed(0)} ${words.join(' ')}`;
    this.#fresh.push(line);
    if (this.#fresh.length >= manyLines) this.#hash.update(this.#fresh.splice(0).join(''));
    this.#listen?.(line);
  }

  /** The same for the same seed, always. */
  get hash(): string {
    return this.#hash.copy().update(this.#fresh.join('')).digest('hex').slice(0, 16);
  }
}
