/** A set of vendor numbers that stays small: eight bytes each, however many there are. */

export class IdSet implements Iterable<number> {
  #ids = new Float64Array(1_024);
  #length = 0;
  /** How many at the front are sorted and distinct. */
  #sorted = 0;

  constructor(ids: Iterable<number> = []) {
    this.addAll(ids);
  }

  addAll(ids: Iterable<number>): void {
    for (const id of ids) {
      if (this.#length === this.#ids.length) {
        const wider = new Float64Array(this.#length * 2);
        wider.set(this.#ids);
        this.#ids = wider;
      }
      this.#ids[this.#length++] = id;
    }
  }

  get size(): number {
    return this.#settled().length;
  }

  has(id: number): boolean {
    const ids = this.#settled();
    let [low, high] = [0, ids.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((ids[middle] ?? Infinity) < id) low = middle + 1;
      else high = middle;
    }
    return ids[low] === id;
  }

  equals(other: IdSet): boolean {
    const [ids, others] = [this.#settled(), other.#settled()];
    return ids.length === others.length && ids.every((id, index) => id === others[index]);
  }

  /** Ascending. */
  [Symbol.iterator](): Iterator<number> {
    return this.#settled()[Symbol.iterator]();
  }

  #settled(): Float64Array {
    if (this.#sorted < this.#length) {
      const ids = this.#ids.subarray(0, this.#length).sort();
      let kept = 0;
      for (const id of ids) if (kept === 0 || ids[kept - 1] !== id) ids[kept++] = id;
      this.#length = this.#sorted = kept;
    }
    return this.#ids.subarray(0, this.#length);
  }
}
