/** Compact lists and sets of vendor ids. */

/** Ids of four bytes each, or of eight where one does not fit. */
export type IdArray = Uint32Array | Float64Array;

export function fitsInFour(id: number): boolean {
  return id >>> 0 === id;
}

export class IdSet implements Iterable<number> {
  #ids: IdArray = new Uint32Array(1_024);
  /** Whether another set uses the same array: it is copied before it changes. */
  #isShared = false;
  #length = 0;
  /** Starts of the sorted segments, each at least twice as long as the next. */
  #starts: number[] = [];
  /** End of the last sorted segment. */
  #sorted = 0;

  /** A copy of a set takes no memory until one of them changes. */
  constructor(ids: Iterable<number> = []) {
    if (ids instanceof IdSet) this.#share(ids);
    else this.addAll(ids);
  }

  addAll(ids: Iterable<number>): void {
    for (const id of ids) {
      const fits = fitsInFour(id) || this.#ids instanceof Float64Array;
      if (!fits || this.#isShared || this.#length === this.#ids.length) this.#copy(fits);
      this.#ids[this.#length++] = id;
    }
  }

  get size(): number {
    return this.#settled().length;
  }

  /** May be called between additions: each id is sorted only a few times, not each time. */
  has(id: number): boolean {
    this.#sortTail();
    return this.#starts.some((start, index) => {
      const end = this.#starts[index + 1] ?? this.#sorted;
      return holds(this.#ids.subarray(start, end), id);
    });
  }

  equals(other: IdSet): boolean {
    const [ids, others] = [this.#settled(), other.#settled()];
    return ids.length === others.length && ids.every((id, index) => id === others[index]);
  }

  /** Ascending. */
  [Symbol.iterator](): Iterator<number> {
    return this.#settled()[Symbol.iterator]();
  }

  #share(other: IdSet): void {
    this.#length = this.#sorted = other.#settled().length;
    this.#starts = [...other.#starts];
    this.#ids = other.#ids;
    this.#isShared = other.#isShared = true;
  }

  /** Continues in an array of its own with room for more ids. */
  #copy(fits: boolean): void {
    const room = this.#length < this.#ids.length ? this.#ids.length : this.#length * 2;
    const ids = fits && this.#ids instanceof Uint32Array ? new Uint32Array(room) : new Float64Array(room);
    ids.set(this.#ids);
    this.#ids = ids;
    this.#isShared = false;
  }

  #settled(): IdArray {
    if (this.#starts.length > 1 || this.#sorted < this.#length) {
      this.#starts = [];
      this.#sortFrom(0);
    }
    return this.#ids.subarray(0, this.#length);
  }

  /** Sorts the new ids, together with the preceding segments that are not twice as long. */
  #sortTail(): void {
    if (this.#sorted === this.#length) return;
    let begin = this.#sorted;
    for (;;) {
      const start = this.#starts.at(-1);
      if (start === undefined || begin - start >= 2 * (this.#length - begin)) break;
      this.#starts.pop();
      begin = start;
    }
    this.#sortFrom(begin);
  }

  #sortFrom(start: number): void {
    const ids = this.#ids.subarray(start, this.#length).sort();
    let kept = 0;
    for (const id of ids) if (kept === 0 || ids[kept - 1] !== id) ids[kept++] = id;
    this.#starts.push(start);
    this.#length = this.#sorted = start + kept;
  }
}

/** Whether `id` is among the ids, which are sorted ascending. */
function holds(ids: IdArray, id: number): boolean {
  let [low, high] = [0, ids.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ids[middle] ?? Infinity) < id) low = middle + 1;
    else high = middle;
  }
  return ids[low] === id;
}
