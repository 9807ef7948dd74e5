/**
 * Pages that show vendors as they are stored. What stands on a page in the same bytes as in an earlier reading, after which it was stored so,
 * is stored so still, unless something has happened to its vendor since; all else is compared row by row.
 */
import type { KnownPage, PageDigests, PagePlace, ReadStamp, VendorPage } from '../../domain/reading.ts';
import { forgottenVerdict, unchangedVerdict, type Verdict } from '../decide/verdict.ts';
import type { ForgottenVendors } from '../rows/forgotten-vendors.ts';
import type { VendorRows } from '../rows/vendor-rows.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import type { Confirmations } from './confirmations.ts';
import { PageDigestRows } from './page-digests.ts';

/** What a confirmation leaves to be done. */
interface Confirmed {
  readonly verdicts: ReadonlyMap<number, Verdict>;
  /** Whether these are the verdicts on all rows of the page. */
  readonly isWhole: boolean;
}

export class PageConfirmer {
  readonly #rows: VendorRows;
  readonly #forgotten: ForgottenVendors;
  readonly #confirmations: Confirmations;
  readonly #digests: PageDigestRows;

  constructor(
    sqlite: Sqlite,
    parts: {
      readonly rows: VendorRows;
      readonly forgotten: ForgottenVendors;
      readonly confirmations: Confirmations;
    },
  ) {
    this.#rows = parts.rows;
    this.#forgotten = parts.forgotten;
    this.#confirmations = parts.confirmations;
    this.#digests = new PageDigestRows(sqlite);
  }

  /** What a page showed when its vendors were last stored so. */
  known(accountId: string, place: PagePlace): KnownPage {
    return this.#digests.find(accountId, place);
  }

  /**
   * Writes down which rows of a page showed their vendors as we hold them. Runs inside a transaction. A page of vendors that we do not
   * know is not looked at any further: its rows are looked up where they are written.
   * @returns the verdicts on those rows; all of the page's, where it showed nothing else.
   */
  confirm(page: VendorPage, accountId: string): Confirmed {
    const { rows, stamp, digests } = page;
    const verdicts = this.#verdictsOnKnown(digests, accountId);
    const isKnown = digests?.isKnown === true && verdicts.size === rows.length;
    const different = new Set<number>();
    let isWhole = true;
    for (const row of isKnown ? [] : rows) {
      const { vendorid } = row;
      // Of two rows of one vendor the first counts.
      if (verdicts.has(vendorid) || different.has(vendorid)) continue;
      const stored = this.#rows.lookUp(accountId, row);
      if (stored?.same) verdicts.set(vendorid, unchangedVerdict(stored));
      else if (!stored && this.#forgotten.has({ account_id: accountId, vendorid })) {
        verdicts.set(vendorid, forgottenVerdict);
        continue;
      } else isWhole = false;
      if (!stored) break;
      if (!stored.same) different.add(vendorid);
    }
    // Whatever happens until the others are applied, no older reading may pass what is said of these.
    if (verdicts.size > 0) this.#confirmations.add(accountId, stamp.readSeq, verdicts.keys());
    if (isWhole && !isKnown) this.remember(page, verdicts, accountId);
    return { verdicts, isWhole };
  }

  /** Writes down that older readings may not pass what a page showed of these vendors. Runs inside a transaction. */
  confirmVendors(vendorids: readonly number[], { readSeq }: ReadStamp, accountId: string): void {
    this.#confirmations.add(accountId, readSeq, vendorids);
  }

  /** Writes down what a page showed, if all of its vendors are stored so now. Runs inside the transaction that stores them. */
  remember({ digests, stamp, pages }: VendorPage, verdicts: ReadonlyMap<number, Verdict>, accountId: string): void {
    if (!digests) return;
    for (const verdict of verdicts.values()) if (!isStored(verdict)) return;
    this.#digests.put(accountId, digests, stamp.readSeq, pages);
  }

  #verdictsOnKnown(digests: PageDigests | undefined, account_id: string): Map<number, Verdict> {
    const verdicts = new Map<number, Verdict>();
    if (!digests || digests.known.vendorids.length === 0) return verdicts;
    const { readSeq, vendorids } = digests.known;
    for (const stored of this.#rows.storedSince(account_id, vendorids, readSeq))
      verdicts.set(stored.vendorid, unchangedVerdict(stored));
    return verdicts;
  }
}

/** Whether a vendor is stored as a reading showed it, once this has become of it. */
function isStored({ kind }: Verdict): boolean {
  return kind === 'unchanged' || kind === 'created' || kind === 'updated';
}
