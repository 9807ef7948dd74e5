/** What happened, in order: a hash of all of it, and the lines themselves where somebody wants to read them. */
import { createHash } from 'node:crypto';

export class Trace {
  readonly #hash = createHash('sha256');
  readonly #now: () => number;
  readonly #listen: ((line: string) => void) | undefined;

  constructor(now: () => number, listen?: (line: string) => void) {
    this.#now = now;
    this.#listen = listen;
  }

  say(...words: readonly (string | number)[]): void {
    const line = `${this.#now().toFixed(0)} ${words.join(' ')}`;
    this.#hash.update(line);
    this.#listen?.(line);
  }

  /** The same for the same seed, always. */
  get hash(): string {
    return this.#hash.copy().digest('hex').slice(0, 16);
  }
}
