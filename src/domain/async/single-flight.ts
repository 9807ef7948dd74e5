/** Equal requests that come while the work for the first is under way join it: the work is done once, and all get its outcome. */

type Outcome = 'done' | 'failed';

export class SingleFlight<T> {
  readonly #keeps: (outcome: Outcome) => boolean;
  #last: { readonly result: Promise<T>; outcome?: Outcome } | undefined;

  /** `keeps` tells whether an outcome that is there already still serves whoever asks now; it never does unless told. */
  constructor(keeps: (outcome: Outcome) => boolean = () => false) {
    this.#keeps = keeps;
  }

  /** Does the work, or joins what is under way or kept. @throws what the work throws, to all who joined. */
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

  /** Resolves when nothing is under way, whatever became of it. */
  async idle(): Promise<void> {
    await this.#last?.result.catch(() => undefined);
  }
}
