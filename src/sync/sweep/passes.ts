/**
 * When are walks over all pages of a list complete?
 *
 * A pass that met each page once, with one `total`, no vendor twice and exactly `total` distinct vendors may still have
 * missed one: a deletion shifts rows left over a page boundary, and an insertion in the same gap keeps `total` as it was.
 * But while `total` stands still, insertions and deletions are equally many; so if no inserted vendor was seen, those that
 * were not seen are exactly the inserted ones, and every vendor that stood still was. Seeing one that entered the list
 * during the sweep therefore spoils what was gathered so far, and the list is walked again.
 *
 * The same argument holds for passes joined together while `total` stands still.
 */
import type { ProofKind } from '../../store/tables/mirror-tables.ts';
import { IdSet } from './id-set.ts';

/** What one walk over all pages of a list showed. */
export interface Pass {
  readonly ids: IdSet;
  /** Which vendors stood where, in one number: two passes with different numbers showed different lists. */
  readonly order: number;
  /** The one total that every page answered; undefined if it moved. */
  readonly total: number | undefined;
  /** How many pages the list has. */
  readonly pages: number;
  /** Every page from the first to the last answered as the one that was asked for. */
  readonly whole: boolean;
  /** A vendor came twice. */
  readonly repeated: boolean;
  /** A vendor was seen that had entered the list since the sweep began. */
  readonly entered: boolean;
  /** Rows of one time may stand on both sides of a page's edge: in another order for each page, one may be on neither. */
  readonly splitsTimes: boolean;
  /** The last page had no room for another row: there may be more than are counted. */
  readonly full: boolean;
  /** The first page shows the end of the list, too: the whole list as it stood at one moment. */
  readonly atOnce: boolean;
}

export interface Complete {
  readonly complete: true;
  readonly proof: ProofKind;
  readonly pages: number;
  /** Vendors of the list that is proven: those of a walk that counts no more are none of them. */
  readonly shown: number;
  /** Rows that `total` counts and nobody may read; below zero where more are shown than it counts. */
  readonly unreadable: number;
}

export interface Incomplete {
  readonly complete: false;
  readonly why: string;
  /** What was gathered so far counts no more. */
  readonly anew: boolean;
}

export type Conclusion = Complete | Incomplete;

/**
 * A list whose order changes with every request shows a vendor in about two passes of three. One that twenty passes did not show (one
 * chance in 400 million), the last five of which showed nothing new, is counted by the service and not readable. A pass in
 * which a page was answered as another is none of the twenty; and twenty in one order say no more than the first of them.
 */
const enoughPasses = 20;
const quietPasses = 5;

/** Fewer vendors than these may stand in the same places again by chance, in a list whose order changes with every request. */
export const few = 8;

/**
 * A list that keeps its order is recognised sooner: two passes show the same vendors in the same places. Where orders change, a few vendors
 * may stand so by chance, while others are missing (one pass in seven at most); ten times in a row they do not.
 */
const alikePasses = 2;
const alikePassesOfFew = 10;

/** Gathers passes until they prove that nothing was missed. */
export class Passes {
  #joined = new IdSet();
  #total: number | undefined;
  /** How many passes are joined, and their orders, as numbers. */
  #passes = 0;
  #orders = new Set<number>();
  #quiet = 0;
  #before: Pass | undefined;
  /** How many passes in a row were alike. */
  #alike = 0;
  #count = 0;

  add(pass: Pass): Conclusion {
    const before = this.#before;
    this.#before = pass;
    this.#count += 1;
    this.#alike = before && areAlike(pass, before) ? this.#alike + 1 : 1;
    if (pass.total === undefined) return this.#startOver('the number of vendors changed during the walk');
    if (pass.entered && !pass.atOnce) return this.#startOver('vendors entered the list during the walk');

    this.#join(pass, pass.total);
    const shown = this.#joined.size;
    if (shown === pass.total) return this.#complete(pass, shown, 0);
    const isAlike = this.#alike >= (pass.pages > 1 && pass.ids.size < few ? alikePassesOfFew : alikePasses);
    if (isAlike && !pass.splitsTimes && !(pass.full && pass.ids.size > pass.total))
      return this.#complete(pass, shown, pass.total - pass.ids.size);
    if (this.#passes >= enoughPasses && this.#orders.size > 1 && this.#quiet >= quietPasses)
      return this.#complete(pass, shown, pass.total - shown);
    return { complete: false, why: describe(pass, shown), anew: false };
  }

  #complete({ pages }: Pass, shown: number, unreadable: number): Complete {
    const proof = this.#count === 1 ? 'plain' : 'passes';
    return { complete: true, proof, pages, shown, unreadable };
  }

  #join(pass: Pass, total: number): void {
    if (total !== this.#total) this.#clear();
    this.#total = total;
    const before = this.#joined.size;
    this.#joined.addAll(pass.ids);
    if (this.#joined.size > total) {
      // Some of those joined are no longer there.
      this.#clear();
      this.#joined.addAll(pass.ids);
    }
    if (pass.whole) {
      this.#passes += 1;
      this.#orders.add(pass.order);
    }
    this.#quiet = this.#joined.size === before ? this.#quiet + 1 : 0;
  }

  #clear(): void {
    this.#joined = new IdSet();
    this.#passes = 0;
    this.#orders = new Set();
    this.#quiet = 0;
  }

  #startOver(why: string): Conclusion {
    this.#clear();
    this.#total = undefined;
    return { complete: false, why, anew: true };
  }
}

/** Whether two passes showed one list. On a single page every order shows all. */
function areAlike(pass: Pass, before: Pass): boolean {
  const sound = [pass, before].every((one) => one.whole && !one.repeated && (!one.entered || one.atOnce));
  const sameOrder = pass.order === before.order || pass.pages === 1;
  return sound && sameOrder && before.total === pass.total && before.ids.equals(pass.ids);
}

function describe(pass: Pass, seen: number): string {
  if (!pass.whole) return 'a page was answered as another one';
  if (pass.repeated) return `the list moved during the walk: ${seen} of ${String(pass.total)} vendors seen`;
  return `the service counts ${String(pass.total)} vendors and showed ${seen}`;
}
