/** The rows that belong to a vendor: balances and tax defaults. */
import { minorUnits } from '../../domain/amounts.ts';
import {
  balanceFields,
  textFields,
  type Balance,
  type BalanceField,
  type TaxDefault,
  type TextField,
  type Vendor,
} from '../../domain/vendor.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import type { Statement } from '../sqlite/plain-statement.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';
import type { BalanceTable, TaxDefaultTable, VendorTable, VendorKey } from '../tables/vendor-tables.ts';
import { ofVendor } from './of-vendor.ts';
import { storedObject } from './stored-json.ts';
import { flag } from './vendor-columns.ts';

export const balanceKinds = {
  outstanding_balance: 'outstanding',
  overdue_balance: 'overdue',
} as const satisfies Record<BalanceField, BalanceTable['kind']>;

export class ChildRows {
  readonly #balances: Statement<VendorKey, BalanceTable>;
  readonly #taxes: Statement<VendorKey, TaxDefaultTable>;
  readonly #dropBalances: Statement<VendorKey>;
  readonly #dropTaxes: Statement<VendorKey>;
  readonly #addBalance: Statement<BalanceTable>;
  readonly #addTax: Statement<TaxDefaultTable>;

  constructor(sqlite: Sqlite) {
    this.#balances = statement(sqlite, (at) =>
      ofVendor(mirrorSql.selectFrom('vendor_balances').selectAll(), at).orderBy('code'),
    );
    this.#taxes = statement(sqlite, (at) =>
      ofVendor(mirrorSql.selectFrom('vendor_tax_defaults').selectAll(), at).orderBy('taxid'),
    );
    this.#dropBalances = statement(sqlite, (at) => ofVendor(mirrorSql.deleteFrom('vendor_balances'), at));
    this.#dropTaxes = statement(sqlite, (at) => ofVendor(mirrorSql.deleteFrom('vendor_tax_defaults'), at));
    this.#addBalance = statement(sqlite, (at) =>
      mirrorSql.insertInto('vendor_balances').values({
        account_id: at('account_id'),
        vendorid: at('vendorid'),
        kind: at('kind'),
        amount: at('amount'),
        amount_minor: at('amount_minor'),
        code: at('code'),
      }),
    );
    this.#addTax = statement(sqlite, (at) =>
      mirrorSql.insertInto('vendor_tax_defaults').values({
        account_id: at('account_id'),
        vendorid: at('vendorid'),
        taxid: at('taxid'),
        system_taxid: at('system_taxid'),
        enabled: at('enabled'),
        name: at('name'),
        amount: at('amount'),
        tax_authorityid: at('tax_authorityid'),
        created_at: at('created_at'),
        updated_at: at('updated_at'),
      }),
    );
  }

  /** The vendor in its rows. Fields that were never reported are null. */
  vendorOf(row: VendorTable): Vendor {
    const balances = this.#balances.all(row);
    const kept = (kind: BalanceTable['kind']): Balance[] =>
      balances.filter((balance) => balance.kind === kind).map(({ amount, code }) => ({ amount, code }));
    return {
      ...(Object.fromEntries(textFields.map((field) => [field, row[field]])) as Record<TextField, string | null>),
      ...(row.vis_state === null ? {} : { vis_state: row.vis_state }),
      vendorid: row.vendorid,
      is_1099: row.is_1099 === null ? null : row.is_1099 === 1,
      outstanding_balance: kept('outstanding'),
      overdue_balance: kept('overdue'),
      tax_defaults: this.#taxes.all(row).map(taxDefaultOf),
      unknown: new Map(Object.entries(storedObject(row.unknown_fields ?? '{}') as Record<string, string>)),
    };
  }

  /** Replaces balances and tax defaults. @param fresh whether there are none to remove */
  // Built field by field, because spreading objects is much of a first pull's own work.
  replace({ account_id, vendorid }: VendorKey, vendor: Vendor, fresh: boolean): void {
    if (!fresh) {
      this.#dropBalances.run({ account_id, vendorid });
      this.#dropTaxes.run({ account_id, vendorid });
    }
    for (const field of balanceFields) {
      const kind = balanceKinds[field];
      for (const balance of vendor[field] ?? []) {
        const { amount, code } = balance;
        this.#addBalance.run({ account_id, vendorid, kind, amount, amount_minor: minorUnits(balance), code });
      }
    }
    for (const tax of vendor.tax_defaults ?? []) {
      const { taxid, system_taxid, name, amount, tax_authorityid, created_at, updated_at } = tax;
      const names = { name, amount, tax_authorityid, created_at, updated_at };
      this.#addTax.run({ account_id, vendorid, taxid, system_taxid, enabled: flag(tax.enabled), ...names });
    }
  }
}

function taxDefaultOf(row: TaxDefaultTable): TaxDefault {
  const { taxid, system_taxid, name, amount, tax_authorityid, created_at, updated_at } = row;
  const enabled = row.enabled === null ? null : row.enabled === 1;
  return { taxid, system_taxid, enabled, name, amount, tax_authorityid, created_at, updated_at };
}
