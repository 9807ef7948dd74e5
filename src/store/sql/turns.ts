/** Gives a connection to one piece of work at a time, in the order in which they asked for it. */
export class Turns {
  #isTaken = false;
  readonly #waiting: (() => void)[] = [];

  /** Work that asks for another turn before it ends would wait for ever. @throws what `work` throws. */
  async take<T>(work: () => T | Promise<T>): Promise<T> {
    if (this.#isTaken) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#isTaken = true;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#isTaken = false;
    }
  }
}
