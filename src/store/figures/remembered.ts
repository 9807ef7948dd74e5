/** Values that stay as they are, looked up once for as long as they are asked for. */
export class Remembered<Value> {
  readonly #known = new Map<string, ReadonlyMap<number, Value>>();

  /** The values of an account by their numbers. What is not asked for this time is forgotten. */
  of(accountId: string, numbers: readonly number[], read: (number: number) => Value): ReadonlyMap<number, Value> {
    const known = this.#known.get(accountId);
    const values = new Map(numbers.map((number) => [number, known?.get(number) ?? read(number)]));
    this.#known.set(accountId, values);
    return values;
  }
}
