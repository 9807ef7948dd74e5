/** Removes fields from everything that is stored of vendors. */
import { textWithoutMembers } from '../../domain/json/without-members.ts';
import { balanceFields, columnFields, type BalanceField, type ColumnField } from '../../domain/vendor.ts';
import type { VendorKey } from '../tables/vendor-tables.ts';
import { balanceKinds } from '../vendor/child-rows.ts';
import { ofVendor } from '../vendor/of-vendor.ts';
import { repairedRaw } from '../vendor/stored-json.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';

/** How many rows contained one of the fields. */
export interface ForgottenFields {
  readonly vendors: number;
  readonly versions: number;
}

/** Rows that are read at a time. */
const chunk = 1_000;

/**
 * Removes the fields from vendors and their history; that and when they changed stays. Runs inside a transaction.
 * @param accountId all accounts by default
 */
export function forgetFields(sqlite: Sqlite, names: ReadonlySet<string>, accountId?: string): ForgottenFields {
  const accounts = accountId === undefined ? accountsIn(sqlite) : [accountId];
  const vendors = accounts.reduce((sum, account) => sum + stripVendors(sqlite, account, names), 0);
  const versions = accounts.reduce((sum, account) => sum + stripVersions(sqlite, account, names), 0);
  for (const account_id of accounts) {
    for (const field of columnFields) if (names.has(field)) clearColumn(sqlite, account_id, field);
    for (const field of balanceFields) if (names.has(field)) dropBalances(sqlite, account_id, field);
    if (names.has('tax_defaults'))
      statement<{ account_id: string }>(sqlite, (at) =>
        mirrorSql.deleteFrom('vendor_tax_defaults').where('account_id', '=', at('account_id')),
      ).run({ account_id });
  }
  return { vendors, versions };
}

function accountsIn(sqlite: Sqlite): string[] {
  return statement<object, { account_id: string }>(sqlite, () => mirrorSql.selectFrom('accounts').select('account_id'))
    .all({})
    .map(({ account_id }) => account_id);
}

type VendorJson = VendorKey & { readonly raw: string; readonly unknown_fields: string | null };

function stripVendors(sqlite: Sqlite, account_id: string, names: ReadonlySet<string>): number {
  const some = statement<{ account_id: string; after: number }, VendorJson>(sqlite, (at) =>
    mirrorSql
      .selectFrom('vendors')
      .select(['account_id', 'vendorid', 'raw', 'unknown_fields'])
      .where('account_id', '=', at('account_id'))
      .where('vendorid', '>', at('after'))
      .orderBy('vendorid')
      .limit(chunk),
  );
  const put = statement<VendorJson>(sqlite, (at) =>
    ofVendor(mirrorSql.updateTable('vendors').set({ raw: at('raw'), unknown_fields: at('unknown_fields') }), at),
  );
  let changed = 0;
  const inOrder = eachRow(
    (after) => some.all({ account_id, after }),
    ({ vendorid }) => vendorid,
  );
  for (const row of inOrder) {
    const raw = stripped(row.raw, names);
    const unknown = row.unknown_fields === null ? null : stripped(row.unknown_fields, names);
    if (raw === row.raw && unknown === row.unknown_fields) continue;
    changed += put.run({ ...row, raw, unknown_fields: unknown === '{}' ? null : unknown });
  }
  return changed;
}

/** All rows, in chunks. @param some the rows after a number @param numberOf the number of a row */
function* eachRow<Row>(some: (after: number) => Row[], numberOf: (row: Row) => number): Generator<Row, void, void> {
  let last: Row | undefined;
  do {
    const rows = some(last === undefined ? 0 : numberOf(last));
    yield* rows;
    last = rows.at(-1);
  } while (last !== undefined);
}

interface VersionJson {
  readonly seq: number;
  readonly raw: string;
}

function stripVersions(sqlite: Sqlite, account_id: string, names: ReadonlySet<string>): number {
  const some = statement<{ account_id: string; after: number }, VersionJson>(sqlite, (at) =>
    mirrorSql
      .selectFrom('_vendor_versions')
      .select(['seq', 'raw'])
      .where('account_id', '=', at('account_id'))
      .where('seq', '>', at('after'))
      .where('raw', 'is not', null)
      .orderBy('seq')
      .limit(chunk)
      .$narrowType<{ raw: string }>(),
  );
  const put = statement<VersionJson>(sqlite, (at) =>
    mirrorSql
      .updateTable('_vendor_versions')
      .set({ raw: at('raw') })
      .where('seq', '=', at('seq')),
  );
  let changed = 0;
  for (const row of eachRow(
    (after) => some.all({ account_id, after }),
    ({ seq }) => seq,
  )) {
    const raw = stripped(row.raw, names);
    if (raw !== row.raw) changed += put.run({ ...row, raw });
  }
  return changed;
}

/** Damaged JSON is removed completely, because its content is unknown. */
function stripped(json: string, names: ReadonlySet<string>): string {
  return textWithoutMembers(repairedRaw(json), names);
}

function clearColumn(sqlite: Sqlite, account_id: string, field: ColumnField): void {
  statement<{ account_id: string }>(sqlite, (at) =>
    mirrorSql
      .updateTable('vendors')
      .set({ [field]: null })
      .where('account_id', '=', at('account_id'))
      .where(field, 'is not', null),
  ).run({ account_id });
}

function dropBalances(sqlite: Sqlite, account_id: string, field: BalanceField): void {
  const kind = balanceKinds[field];
  statement<{ account_id: string }>(sqlite, (at) =>
    mirrorSql.deleteFrom('vendor_balances').where('account_id', '=', at('account_id')).where('kind', '=', kind),
  ).run({ account_id });
  // Like a vendor without an amount.
  const nothing = { [kind]: null, [`${kind}_minor`]: null, [`${kind}_amount`]: 0, [`${kind}_units`]: 0 };
  statement<{ account_id: string }>(sqlite, (at) =>
    mirrorSql.updateTable('balance_spans').set(nothing).where('account_id', '=', at('account_id')),
  ).run({ account_id });
  statement<{ account_id: string }>(sqlite, (at) =>
    mirrorSql
      .deleteFrom('balance_spans')
      .where('account_id', '=', at('account_id'))
      .where('outstanding', 'is', null)
      .where('overdue', 'is', null),
  ).run({ account_id });
}
