/** Ends of requests that are not in the file yet, by account and family. */
import { scopeKey, type RequestEnd, type RequestScope } from './request-rows.ts';

export class RequestEnds {
  readonly #byScope = new Map<string, Set<RequestEnd>>();

  /** @returns how many of its account and family there are now. */
  add(end: RequestEnd): number {
    const key = scopeKey(end);
    const ends = this.#byScope.get(key) ?? new Set();
    this.#byScope.set(key, ends.add(end));
    return ends.size;
  }

  of(scope: RequestScope): readonly RequestEnd[] {
    return [...(this.#byScope.get(scopeKey(scope)) ?? [])];
  }

  all(): readonly RequestEnd[] {
    return [...this.#byScope.values()].flatMap((ends) => [...ends]);
  }

  /** These are in the file now. */
  written(ends: readonly RequestEnd[]): void {
    for (const end of ends) this.#byScope.get(scopeKey(end))?.delete(end);
  }
}
