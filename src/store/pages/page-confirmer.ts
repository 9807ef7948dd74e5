/**
 * Confirms vendors that a page shows as they are stored. A record with the same bytes as in an earlier reading is still stored as shown, unless
 * its vendor has changed since then; all other records are compared row by row.
 */
import type { KnownPage, PageDigests, PagePlace, ReadStamp, VendorPage } from '../../domain/reading.ts';
import { forgottenVerdict, unchangedVerdict, type Verdict } from '../decide/verdict.ts';
import type { ForgottenVendors } from '../rows/forgotten-vendors.ts';
import type { VendorRows } from '../rows/vendor-rows.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import type { Confirmations } from './confirmations.ts';
import { PageDigestRows } from './page-digests.ts';

/** The result of a confirmation. */
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

  /** What a page showed when its vendors were last stored as shown. */
  known(accountId: string, place: PagePlace): KnownPage {
    return this.#digests.find(accountId, place);
  }

  /**
   * Records which rows of a page show their vendors as they are stored. Runs inside a transaction. Stops at the first unknown vendor: the
   * remaining rows are looked up where they are written.
   * @returns the verdicts on the recorded rows.
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
    // No older reading may replace these, even before the other rows are applied.
    if (verdicts.size > 0) this.#confirmations.add(accountId, stamp.readSeq, verdicts.keys());
    if (isWhole && !isKnown) this.remember(page, verdicts, accountId);
    return { verdicts, isWhole };
  }

  /** Records that older readings may not replace what a page showed of these vendors. Runs inside a transaction. */
  confirmVendors(vendorids: readonly number[], { readSeq }: ReadStamp, accountId: string): void {
    this.#confirmations.add(accountId, readSeq, vendorids);
  }

  /** Records what a page showed, if all of its vendors are now stored as shown. Runs inside the transaction that stores them. */
  remember({ digests, stamp, pages }: VendorPage, verdicts: ReadonlyMap<number, Verdict>, accountId: string): void {
    if (!digests) return;
    for (const verdict of verdicts.values()) if (!isStored(verdict)) return;
    this.#digests.put(accountId, digests, stamp.readSeq, pages);
  }

  #verdictsOnKnown(digests: PageDigests | undefined, account_id: string): Map<number, Verdict> {
    const verdicts = new Map<number, Verdict>();
    if (!digests || digests.known.vendorids.length === 0) return verdicts;
    const { readSeq, vendorids } = digests.known;
    const { heldSince, states, others } = this.#rows.storedSince(account_id, vendorids, readSeq);
    const active = unchangedVerdict({ held_since_ms: heldSince, vis_state: 0 });
    for (const vendorid of vendorids) {
      if (others.has(vendorid)) continue;
      const vis_state = states[vendorid];
      verdicts.set(
        vendorid,
        vis_state === undefined ? active : unchangedVerdict({ held_since_ms: heldSince, vis_state }),
      );
    }
    return verdicts;
  }
}

/** Whether a vendor with this verdict is stored as the reading showed it. */
function isStored({ kind }: Verdict): boolean {
  return kind === 'unchanged' || kind === 'created' || kind === 'updated';
}
