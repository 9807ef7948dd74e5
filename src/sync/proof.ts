/**
 * When is a sweep complete? (DESIGN 2, rule 6.)
 *
 * A pass that met each page once, with one `total`, no vendor twice and exactly `total` distinct vendors may still have
 * missed one: a deletion shifts rows left over a page boundary, and an insertion in the same gap keeps `total` as it was.
 * But while `total` stands still, insertions and deletions are equally many; so if no inserted vendor was seen, those that
 * were not seen are exactly the inserted ones, and every vendor that stood still was. Seeing one that entered the list
 * during the sweep therefore spoils what was gathered so far, and the list is walked again.
 *
 * The same argument holds for passes joined together while `total` stands still.
 */
import { IdSet } from './id-set.ts';

/** What one walk over all pages of a list showed. */
export interface Pass {
  readonly ids: IdSet;
  /** The one total that every page answered; undefined if it moved. */
  readonly total: number | undefined;
  /** Every page from the first to the last answered as the one that was asked for. */
  readonly whole: boolean;
  /** A vendor came twice. */
  readonly repeated: boolean;
  /** A vendor was seen that had entered the list since the sweep began. */
  readonly entered: boolean;
}

export type Conclusion =
  | { readonly complete: true; /** Rows that `total` counts and nobody may read. */ readonly unreadable: number }
  | {
      readonly complete: false;
      readonly why: string;
      /** What was gathered so far counts no more. */ readonly anew: boolean;
    };

/** Gathers passes until they prove that nothing was missed. */
export class Proof {
  #joined = new IdSet();
  #total: number | undefined;
  #before: Pass | undefined;

  add(pass: Pass): Conclusion {
    const before = this.#before;
    this.#before = pass;
    if (pass.total === undefined) return this.#startOver('the number of vendors changed during the walk');
    if (pass.entered) return this.#startOver('vendors entered the list during the walk');

    if (pass.total !== this.#total) this.#joined = new IdSet();
    this.#total = pass.total;
    this.#joined.addAll(pass.ids);
    if (this.#joined.size > pass.total) this.#joined = new IdSet(pass.ids);
    if (this.#joined.size === pass.total) return { complete: true, unreadable: 0 };

    const short = pass.whole && !pass.repeated && pass.ids.size < pass.total;
    if (short && before && alike(pass, before)) return { complete: true, unreadable: pass.total - pass.ids.size };
    return { complete: false, why: describe(pass, this.#joined.size), anew: false };
  }

  #startOver(why: string): Conclusion {
    this.#joined = new IdSet();
    this.#total = undefined;
    return { complete: false, why, anew: true };
  }
}

function alike(pass: Pass, before: Pass): boolean {
  return before.whole && !before.repeated && before.total === pass.total && before.ids.equals(pass.ids);
}

function describe(pass: Pass, seen: number): string {
  if (!pass.whole) return 'a page was answered as another one';
  if (pass.repeated) return `the list moved during the walk: ${seen} of ${String(pass.total)} vendors seen`;
  return `the service counts ${String(pass.total)} vendors and showed ${seen}`;
}
