/** The orders in which a list may show its rows. */
import type { SeededRandom } from '../core/random.ts';

/** Vendor numbers in an order; -1 at a place that is no longer used. */
export interface Sequence {
  readonly length: number;
  at(position: number): number;
}

/** Keeps a list in the order of last updates, without sorting again. */
export class UpdateOrder implements Sequence {
  #order: number[];
  /** Where in the order each vendor stands now; its earlier places are void. */
  readonly #place = new Map<number, number>();

  constructor(count: number, updated: (index: number) => number) {
    const times = Float64Array.from({ length: count }, (_, index) => updated(index));
    this.#order = Array.from(times.keys()).sort((a, b) => (times[a] ?? 0) - (times[b] ?? 0));
    this.#index();
  }

  get length(): number {
    return this.#order.length;
  }

  at(position: number): number {
    const index = this.#order[position] ?? -1;
    return this.#place.get(index) === position ? index : -1;
  }

  /** This vendor has just been updated. */
  touch(index: number): void {
    this.#place.set(index, this.#order.length);
    this.#order.push(index);
    if (this.#order.length <= 2 * this.#place.size + 64) return;
    this.#order = this.#order.filter((_, position) => this.at(position) >= 0);
    this.#index();
  }

  #index(): void {
    for (const [position, index] of this.#order.entries()) this.#place.set(index, position);
  }
}

/** The sequence of `length` vendors in an order that needs no memory. */
export function sequenceOf(order: 'id' | 'newest' | 'shuffled', length: number, random: SeededRandom): Sequence {
  switch (order) {
    case 'id':
      return { length, at: (position) => position };
    case 'newest':
      return { length, at: (position) => length - 1 - position };
    case 'shuffled': {
      const mixed = random.permutation(length);
      return { length, at: (position) => mixed[position] ?? -1 };
    }
  }
}

export function reversed(sequence: Sequence): Sequence {
  const { length } = sequence;
  return { length, at: (position) => sequence.at(length - 1 - position) };
}
