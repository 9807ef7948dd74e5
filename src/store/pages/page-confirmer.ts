/** Confirms vendors that a page shows as they are stored. */
import type { ReadStamp, VendorPage } from '../../domain/reading.ts';
import { forgottenVerdict, unchangedVerdict, type Verdict } from '../decide/verdict.ts';
import type { ForgottenVendors } from '../rows/forgotten-vendors.ts';
import type { VendorRows } from '../rows/vendor-rows.ts';
import type { Confirmations } from './confirmations.ts';

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

  constructor(rows: VendorRows, forgotten: ForgottenVendors, confirmations: Confirmations) {
    this.#rows = rows;
    this.#forgotten = forgotten;
    this.#confirmations = confirmations;
  }

  /**
   * Records which rows of a page show their vendors as they are stored. Runs inside a transaction. Stops at the first unknown vendor: the
   * remaining rows are looked up where they are written.
   * @returns the verdicts on the recorded rows.
   */
  confirm({ rows, stamp }: VendorPage, accountId: string): Confirmed {
    const verdicts = new Map<number, Verdict>();
    const different = new Set<number>();
    let isWhole = true;
    for (const row of rows) {
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
    if (verdicts.size > 0) this.confirmVendors([...verdicts.keys()], stamp, accountId);
    return { verdicts, isWhole };
  }

  /** Records that older readings may not replace what a page showed of these vendors. Runs inside a transaction. */
  confirmVendors(vendorids: readonly number[], { readSeq }: ReadStamp, accountId: string): void {
    this.#confirmations.add(accountId, readSeq, vendorids);
  }
}
