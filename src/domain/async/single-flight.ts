/** Joins concurrent calls: while the work of the first is under way, later calls wait for its result. */

type Outcome = 'done' | 'failed';

export class SingleFlight<T> {
  readonly #keeps: (outcome: Outcome) => boolean;
  #last: { readonly result: Promise<T>; outcome?: Outcome } | undefined;

  /** `keeps` decides whether a finished result is still used for later calls; by default never. */
  constructor(keeps: (outcome: Outcome) => boolean = () => false) {
    this.#keeps = keeps;
  }

  /** Starts the work, or returns the result that is under way or kept. @throws what the work throws, to every caller that joined it. */
  run(work: () => Promise<T>): Promise<T> {
    const last = this.#last;
    if (last && (last.outcome === undefined || this.#keeps(last.outcome))) return last.result;
    const begun: { result: Promise<T>; outcome?: Outcome } = { result: work() };
    begun.result.then(
      () => (begun.outcome = 'done'),
      () => (begun.outcome = 'failed'),
    );
    this.#last = begun;
    return begun.result;
  }

  /** Resolves when no work is under way, whether it succeeded or failed. */
  async idle(): Promise<void> {
    await this.#last?.result.catch(() => undefined);
  }
}
