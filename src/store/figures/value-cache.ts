/** Caches values that never change, by their numbers: those of the last call for each account. */
export class ValueCache<Value> {
  readonly #cached = new Map<string, ReadonlyMap<number, Value>>();

  /** The values of an account by their numbers. Values that are not requested this time are dropped. */
  of(accountId: string, numbers: readonly number[], read: (number: number) => Value): ReadonlyMap<number, Value> {
    const cached = this.#cached.get(accountId);
    const values = new Map(numbers.map((number) => [number, cached?.get(number) ?? read(number)]));
    this.#cached.set(accountId, values);
    return values;
  }
}
