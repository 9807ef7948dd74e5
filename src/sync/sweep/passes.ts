/**
 * When do walks over all pages of a list prove it complete?
 *
 * Only walks that saw the end of the list (walk.ts) prove anything.
 *
 * A pass that got each page once, with one `total`, no vendor twice and exactly `total` distinct vendors may still have missed one: a
 * deletion shifts rows over a page boundary, and an insertion at the same time keeps `total` unchanged. But while `total` is constant,
 * insertions and deletions are equally many. So if no inserted vendor was seen, the vendors that were not seen are exactly the inserted
 * ones, and every vendor that did not change was seen. A vendor that entered the list during the sweep therefore invalidates the result,
 * and the list is walked again.
 *
 * The same argument holds for several passes together while `total` is constant.
 *
 * It holds while `total` counts at least the rows that are listed. A walk that shows more refutes that, or one whose pages count their own
 * rows each, and so did an earlier sweep of this account that ended so (`miscounted`); then no number proves anything, nor does one that
 * changes say that the list did. What is left is the list itself: a vendor that was passed over because rows moved up behind the walk was
 * passed over because a row before it went, or moved. Two walks in succession that show the same vendors in the same places, none of them
 * twice, none of which may have entered, rule that out: what went after it was shown is not shown again, what moved stands elsewhere, and
 * what came was not there before. A page may be answered from a copy that is `sync.lag` old, and then a row that went may be shown again:
 * so the second walk begins no sooner than that after the first ended, and each of its pages is as it was after all of the first. The same
 * two walks prove a list that shows fewer rows than are counted. Where pages past the end repeat pages before, nothing less than two such
 * walks says that there is no more.
 *
 * What remains is a list that counts too few rows, unknown until now, changed while its first walk passed, and missed exactly as many rows
 * as are not counted; and one to which, while it was walked, a vendor came that was not known and whose times are of long ago, another went,
 * and a third moved to before the walk. The next sweep shows what was missed.
 */
import type { ProofKind } from '../../store/sql/schema.ts';
import { IdSet } from './id-set.ts';

/** How a walk saw the end of the list (walk.ts). */
export type EndSeen = 'counted' | 'empty' | 'refused' | 'repeated';

/** The result of one walk over all pages. */
export interface Pass {
  readonly ids: IdSet;
  /** A hash of which vendors were where: passes with different hashes showed different lists. */
  readonly order: number;
  /** The `total` of all pages; undefined if it changed. */
  readonly total: number | undefined;
  /** The highest `total`; and whether the walk showed that it counts no list: there were more vendors, or pages counted their own rows. */
  readonly counted: number;
  readonly beyond: boolean;
  /** How many pages the list has. */
  readonly pages: number;
  /** Every page was answered as the requested one. */
  readonly whole: boolean;
  /** A vendor was shown twice. */
  readonly repeated: boolean;
  /** A vendor was seen that may have entered the list since the sweep began. */
  readonly entered: boolean;
  /** Rows of the same time may be on both sides of a page edge: their order may differ for each page, so that one of them is on neither. */
  readonly splitsTimes: boolean;
  /** Undefined where the walk ended without seeing the end of the list. */
  readonly end: EndSeen | undefined;
  /** The first page shows the whole list, at one moment. */
  readonly atOnce: boolean;
  /** Monotonic time before its first request and after its last answer, in milliseconds. */
  readonly began: number;
  readonly ended: number;
}

export interface Complete {
  readonly complete: true;
  readonly proof: ProofKind;
  readonly pages: number;
  /** Number of vendors of the proven list. */
  readonly shown: number;
  /** Rows that `total` counts but the list does not show; negative where more are shown than counted. */
  readonly unreadable: number;
}

export interface Incomplete {
  readonly complete: false;
  readonly why: string;
  /** Earlier walks no longer count. */
  readonly startsOver: boolean;
  /**
   * The next walk should begin `sync.lag` later: it proves the list if it shows the same, or no copy that answers it is older than the change
   * that this one met.
   */
  readonly afterLag?: boolean;
  /** Another run will see the same: the list shows some vendors twice, each time in the same places. */
  readonly isLasting?: boolean;
}

export type Conclusion = Complete | Incomplete;

/**
 * A list whose order changes with every request shows a vendor in about two of three passes. One that twenty passes did not show (a chance
 * of one in 400 million), the last five without anything new, is counted by the service but not readable. Passes in which a page was
 * answered as another do not count, and twenty passes in one order prove no more than one.
 */
const enoughPasses = 20;
const quietPasses = 5;

/** With fewer vendors than this, a random order may repeat by chance. */
export const few = 8;

/**
 * A list with a constant order is recognised sooner: two passes show the same vendors in the same places. Where orders change, a few
 * vendors may repeat by chance while others are missing (in one of seven passes at most), but not ten times in a row.
 */
const alikePasses = 2;
const alikePassesOfFew = 10;

/**
 * Rows of equal rank may be on two pages at once, and others on none, each time the same. Then no walk proves anything, nor does a list of a
 * service that shows a vendor once for each of its parts. So many passes in succession tell that from a list that changes.
 */
const alikeRepeating = 4;

/** What a person is told to do where another run would end the same way. */
export const lastingRemedy =
  'Report it to the service: its list should show each vendor once, in an order of its own. Vendors are mirrored as they are shown meanwhile.';

/** Collects passes until they prove that no vendor was missed. */
export class Passes {
  #joined = new IdSet();
  #total: number | undefined;
  /** The list shows more vendors than it counts. */
  #miscounted: boolean;
  /** The number of joined passes, and the hashes of their orders. */
  #passes = 0;
  #orders = new Set<number>();
  #quiet = 0;
  #before: Pass | undefined;
  /** How many consecutive passes were alike, and when the first of them ended. */
  #alike = 0;
  #alikeSince = 0;
  /** How many consecutive passes showed the same vendors twice in the same places. */
  #repeating = 0;
  #count = 0;
  readonly #lag: number;

  /** `lag`: how old an answer may be, in milliseconds. `miscounted`: an earlier sweep of this list showed more vendors than it counts. */
  constructor(lag: number, miscounted = false) {
    this.#lag = lag;
    this.#miscounted = miscounted;
  }

  add(pass: Pass): Conclusion {
    const before = this.#before;
    this.#before = pass;
    this.#count += 1;
    this.#miscounted ||= pass.beyond;
    this.#alike = before && areAlike(pass, before) ? this.#alike + 1 : 1;
    if (this.#alike === 1) this.#alikeSince = pass.ended;
    this.#repeating = pass.repeated ? (before && repeatsAlike(pass, before) ? this.#repeating + 1 : 1) : 0;
    if (pass.total === undefined && !this.#miscounted)
      return { ...this.#startOver('the number of vendors changed during the walk'), afterLag: true };
    if (pass.entered && !pass.atOnce) return this.#startOver('vendors entered the list during the walk');
    if (!pass.end) return this.#startOver('the end of the list was not seen');

    this.#join(pass);
    const shown = this.#joined.size;
    const isUnmoved = this.#count > 1 || !pass.repeated;
    if (shown === pass.total && !this.#miscounted && isUnmoved) return this.#complete(pass, shown);
    const isAlike = this.#alike >= (pass.pages > 1 && pass.ids.size < few ? alikePassesOfFew : alikePasses);
    const isLater = this.#alike > 1 && pass.began - this.#alikeSince >= this.#lag;
    if (isAlike && isLater && !pass.splitsTimes) return this.#complete(pass, pass.ids.size);
    if (this.#passes >= enoughPasses && this.#orders.size > 1 && this.#quiet >= quietPasses)
      return this.#complete(pass, shown);
    // Where each walk shows another order, waiting would only take time.
    const afterLag = isSound(pass) && !isLater && (this.#orders.size === 1 || this.#alike > 1);
    const isLasting = this.#repeating >= alikeRepeating;
    return { complete: false, why: describe(pass, shown, isLasting), startsOver: false, afterLag, isLasting };
  }

  #complete({ pages, counted }: Pass, shown: number): Complete {
    const proof = this.#count === 1 ? 'plain' : 'passes';
    return { complete: true, proof, pages, shown, unreadable: counted - shown };
  }

  #join(pass: Pass): void {
    const { total } = pass;
    if (total !== this.#total && !this.#miscounted) this.#clear();
    this.#total = total;
    const before = this.#joined.size;
    if (before === 0) this.#joined = new IdSet(pass.ids);
    else this.#joined.addAll(pass.ids);
    if (total !== undefined && this.#joined.size > total && !this.#miscounted) {
      // Some joined vendors are no longer in the list, or it counts too few.
      this.#miscounted = true;
      this.#clear();
      this.#joined = new IdSet(pass.ids);
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

  #startOver(why: string): Incomplete {
    this.#clear();
    this.#total = undefined;
    return { complete: false, why, startsOver: true };
  }
}

function isSound({ whole, repeated, entered, atOnce }: Pass): boolean {
  return whole && !repeated && (!entered || atOnce);
}

/** Whether two passes showed the same list. On a single page the order does not matter. */
function areAlike(pass: Pass, before: Pass): boolean {
  const sameOrder = pass.order === before.order || pass.pages === 1;
  return (
    isSound(pass) &&
    isSound(before) &&
    sameOrder &&
    before.end === pass.end &&
    before.counted === pass.counted &&
    before.ids.equals(pass.ids)
  );
}

function repeatsAlike(pass: Pass, before: Pass): boolean {
  return before.repeated && before.order === pass.order && before.total === pass.total && before.ids.equals(pass.ids);
}

function describe(pass: Pass, seen: number, isLasting: boolean): string {
  if (isLasting)
    return `the list shows some vendors twice, in the same places each time, so it may lack others: ${seen} of ${String(pass.total)} were seen`;
  if (!pass.whole) return 'a page was answered with another page';
  if (pass.repeated) return `the list changed during the walk: ${seen} of ${String(pass.total)} vendors were seen`;
  return `the service counts ${String(pass.total)} vendors and showed ${seen}`;
}
