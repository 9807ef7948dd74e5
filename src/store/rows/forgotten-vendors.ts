/** Vendors that were forgotten on request: no reading stores them again. */
import type { Sqlite } from '../sqlite/driver.ts';
import type { Statement } from '../sqlite/plain-statement.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';
import type { VendorKey } from '../tables/vendor-tables.ts';
import { idsAmong, ofVendor, type IdsAmong } from '../vendor/of-vendor.ts';

export class ForgottenVendors {
  readonly #find: Statement<VendorKey, { vendorid: number }>;
  /** Those of the vendors that were forgotten. */
  readonly among: IdsAmong;
  readonly #add: Statement<VendorKey & { forgotten_at: string }>;
  readonly #delete: Statement<VendorKey>;

  constructor(sqlite: Sqlite) {
    this.#find = statement(sqlite, (at) => ofVendor(mirrorSql.selectFrom('_forgotten_vendors').select('vendorid'), at));
    this.among = idsAmong(sqlite, '_forgotten_vendors');
    this.#add = statement(sqlite, (at) =>
      mirrorSql
        .insertInto('_forgotten_vendors')
        .values({ account_id: at('account_id'), vendorid: at('vendorid'), forgotten_at: at('forgotten_at') })
        .onConflict((conflict) => conflict.doNothing()),
    );
    this.#delete = statement(sqlite, (at) => ofVendor(mirrorSql.deleteFrom('_forgotten_vendors'), at));
  }

  has({ account_id, vendorid }: VendorKey): boolean {
    return this.#find.get({ account_id, vendorid }) !== undefined;
  }

  /** Runs inside a transaction. */
  add({ account_id, vendorid }: VendorKey, forgotten_at: string): void {
    this.#add.run({ account_id, vendorid, forgotten_at });
  }

  /** Allows readings to store the vendor again. Runs inside a transaction. @returns whether it was forgotten. */
  remove({ account_id, vendorid }: VendorKey): boolean {
    return this.#delete.run({ account_id, vendorid }) > 0;
  }
}
