/**
 * Protects young versions: a reading that contradicts one is not applied, because the service may have answered from an old copy; the
 * vendor is marked to be read again.
 */
import type { ReadStamp, Source } from '../../domain/reading.ts';
import { acceptanceOf, type Acceptance } from '../decide/acceptance.ts';
import type { Difference } from '../decide/verdict.ts';
import type { Confirmations } from '../pages/confirmations.ts';
import type { ReadingCounter } from '../rows/reading-counter.ts';
import type { Marks } from '../rows/marks.ts';
import type { VendorTable } from '../tables/vendor-tables.ts';

interface ReadingContext {
  readonly source: Source;
  readonly lag: number;
}

export class LagGuard {
  readonly #counter: ReadingCounter;
  readonly #marks: Marks;
  readonly #confirmations: Confirmations;

  constructor(counter: ReadingCounter, marks: Marks, confirmations: Confirmations) {
    this.#counter = counter;
    this.#marks = marks;
    this.#confirmations = confirmations;
  }

  /**
   * Decides about a reading that differs from the stored vendor, and marks the vendor where it must be read again. Runs inside a
   * transaction.
   */
  check(
    stored: VendorTable,
    difference: Difference,
    { readSeq, begun }: ReadStamp,
    { source, lag }: ReadingContext,
  ): Acceptance {
    const isOvertaken = readSeq <= stored.read_seq || this.#confirmations.hasLater(stored, readSeq);
    const heldSince = stored.held_since_ms;
    const acceptance = acceptanceOf({ difference, isOvertaken, begun, heldSince, source, lag });
    // The answer to our own write is new information even where a reading overtook it.
    if (acceptance === 'stale' && source === 'write') this.#marks.add([stored], 'retry', 0);
    if (acceptance === 'guarded')
      this.#marks.add([stored], 'guarded', Math.max(0, heldSince + lag - this.#counter.moment()));
    return acceptance;
  }
}
