/** Which fields the records of a sweep show, so that one that appears or disappears is noticed. */
import type { VendorRow } from '../reading.ts';
import { vendorFields } from '../vendor.ts';

export class FieldWatch {
  readonly #names = new Set<string>();
  #parsed = 0;
  #rows = 0;

  /** The same rows; what is parsed of them is noticed. */
  through(rows: readonly VendorRow[]): VendorRow[] {
    this.#rows += rows.length;
    return rows.map((row) => ({
      vendorid: row.vendorid,
      raw: row.raw,
      vendor: () => {
        const vendor = row.vendor();
        this.#parsed += 1;
        for (const name of vendorFields) if (vendor[name] !== undefined) this.#names.add(name);
        for (const name of vendor.unknown.keys()) this.#names.add(name);
        return vendor;
      },
    }));
  }

  get names(): string[] {
    return [...this.#names];
  }

  /** Every record was looked into; those equal to the byte to what we hold are not. */
  get whole(): boolean {
    return this.#rows > 0 && this.#parsed >= this.#rows;
  }
}
