/** The stored vendors of an account, and scans of them in chunks. */
import type { ReadStamp } from '../../domain/reading.ts';
import { ForgottenVendors } from './forgotten-vendors.ts';
import type { Marks } from './marks.ts';
import type { VendorKey } from '../tables/vendor-tables.ts';
import { ofVendor } from '../vendor/of-vendor.ts';
import type { Statement } from '../sqlite/plain-statement.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';
import type { ScannedVendor, VendorTraits } from '../records/scanned-vendor.ts';
import type { Database } from '../sqlite/database.ts';
import type { Vendors } from '../areas/areas.ts';

const chunk = 5_000;
const few = 3;

export class SqliteVendors implements Vendors {
  readonly #database: Database;
  readonly #after: Statement<{ account_id: string; after: number }, ScannedVendor>;
  readonly #count: Statement<{ account_id: string }, { vendors: number }>;
  readonly #active: Statement<{ account_id: string }, { vendorid: number }>;
  readonly #suspect: Statement<VendorKey & { read_seq: number }>;
  readonly #traits: Statement<VendorKey, VendorTraits>;

  readonly #forgotten: ForgottenVendors;
  readonly #marks: Marks;

  constructor(database: Database, marks: Marks) {
    this.#database = database;
    this.#marks = marks;
    this.#forgotten = new ForgottenVendors(database.sqlite);
    const { sqlite } = database;
    this.#after = statement(sqlite, (at) =>
      mirrorSql
        .selectFrom('vendors')
        .select(['vendorid', 'vis_state', 'presence', 'read_seq', 'held_since_ms'])
        .where('account_id', '=', at('account_id'))
        .where('vendorid', '>', at('after'))
        .orderBy('vendorid')
        .limit(chunk),
    );
    this.#count = statement(sqlite, (at) =>
      mirrorSql
        .selectFrom('vendors')
        .select((row) => row.fn.countAll<number>().as('vendors'))
        .where('account_id', '=', at('account_id')),
    );
    this.#active = statement(sqlite, (at) =>
      mirrorSql
        .selectFrom('vendors')
        .select('vendorid')
        .where('account_id', '=', at('account_id'))
        .where('vis_state', '=', 0)
        .where('presence', '=', 'present')
        .orderBy('vendorid', 'desc')
        .limit(few),
    );
    this.#suspect = statement(sqlite, (at) =>
      ofVendor(mirrorSql.updateTable('vendors').set({ presence: 'suspect' }), at)
        .where('presence', '=', 'present')
        .where('read_seq', '<', at('read_seq')),
    );
    this.#traits = statement(sqlite, (at) =>
      ofVendor(mirrorSql.selectFrom('vendors').select(['vendorid', 'vendor_name', 'created_at']), at),
    );
  }

  traits(accountId: string, vendorids: readonly number[]): Promise<VendorTraits[]> {
    return this.#database.read(() =>
      vendorids.flatMap((vendorid) => this.#traits.get({ account_id: accountId, vendorid }) ?? []),
    );
  }

  async *scannedVendors(accountId: string): AsyncGenerator<readonly ScannedVendor[]> {
    for (let after = 0; ;) {
      const from = after;
      const some = await this.#database.read(() => this.#after.all({ account_id: accountId, after: from }));
      const end = some.at(-1);
      if (!end) return;
      yield some;
      after = end.vendorid;
    }
  }

  countVendors(accountId: string): Promise<number> {
    return this.#database.read(() => this.#count.get({ account_id: accountId })?.vendors ?? 0);
  }

  newestActive(accountId: string): Promise<number[]> {
    return this.#database.read(() => this.#active.all({ account_id: accountId }).map(({ vendorid }) => vendorid));
  }

  markSuspects(accountId: string, vendorids: readonly number[], { readSeq }: ReadStamp): Promise<void> {
    return this.#database.write(() => {
      for (const vendorid of vendorids) this.#suspect.run({ account_id: accountId, vendorid, read_seq: readSeq });
    });
  }

  mirrorAgain(accountId: string, vendorid: number): Promise<boolean> {
    return this.#database.write(() => {
      const key = { account_id: accountId, vendorid };
      const isReadmitted = this.#forgotten.remove(key);
      if (isReadmitted) this.#marks.add([key], 'asked', 0);
      return isReadmitted;
    });
  }
}
