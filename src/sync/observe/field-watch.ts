/** Collects the names of the fields that the records of a sweep contain, to detect new and vanished fields. */
import type { VendorRow } from '../../domain/reading.ts';
import { vendorFields, type Vendor } from '../../domain/vendor.ts';
import type { ObservedFields } from '../../store/records/finding-record.ts';

export class FieldWatch {
  readonly #names = new Set<string>();
  #excluded: VendorRow['excluded'];
  #parsed = 0;
  #rows = 0;

  /** Wraps rows so that their fields are recorded when they are parsed. */
  watch(rows: readonly VendorRow[]): VendorRow[] {
    this.#rows += rows.length;
    this.#excluded ??= rows[0]?.excluded;
    return rows.map((row) => new WatchedRow(row, this.#notice));
  }

  readonly #notice = (vendor: Vendor): void => {
    this.#parsed += 1;
    for (const name of vendorFields) if (vendor[name] !== undefined) this.#names.add(name);
    for (const name of vendor.unknown.keys()) this.#names.add(name);
  };

  /** The fields recorded so far. */
  get observed(): ObservedFields {
    const whole = this.#rows > 0 && this.#parsed >= this.#rows;
    return { names: [...this.#names], whole, excluded: [...(this.#excluded ?? [])] };
  }
}

/** A row that reports when it is parsed. */
class WatchedRow implements VendorRow {
  readonly vendorid: number;
  readonly #row: VendorRow;
  readonly #notice: (vendor: Vendor) => void;

  constructor(row: VendorRow, notice: (vendor: Vendor) => void) {
    this.vendorid = row.vendorid;
    this.#row = row;
    this.#notice = notice;
  }

  get raw(): string {
    return this.#row.raw;
  }

  get excluded(): VendorRow['excluded'] {
    return this.#row.excluded;
  }

  get bytes(): Uint8Array | undefined {
    return this.#row.bytes;
  }

  vendor(): Vendor {
    const vendor = this.#row.vendor();
    this.#notice(vendor);
    return vendor;
  }
}
