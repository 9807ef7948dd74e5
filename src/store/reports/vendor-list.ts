/** Vendors in rows, for lists: the few fields that tell one from another, and what is owed. */
import { sql, type Expression, type SqlBool } from 'kysely';
import type { Balance, VisState } from '../../domain/vendor.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import { ask, mirrorSql } from '../sqlite/statement.ts';
import type { Presence, VendorTable } from '../tables/vendor-tables.ts';

/** What a vendor must be to be listed; what is left out does not matter. */
export interface VendorFilter {
  readonly account?: string | undefined;
  readonly visState?: VisState | undefined;
  readonly presence?: Presence | undefined;
  /** Part of a name, contact, e-mail address, account number or city, whatever its case and accents. */
  readonly search?: string | undefined;
  readonly limit?: number | undefined;
}

/** The words for states that vendors are asked for by. */
export type WantedState = 'active' | 'deleted' | 'archived' | 'all';

const visStates = { active: 0, deleted: 1, archived: 2, all: undefined } as const;

/** Active are, as in the view `active_vendors`, only those that are present; any other question is taken as it stands. */
export function inState(
  state: WantedState | undefined,
  presence: Presence | undefined,
): Pick<VendorFilter, 'visState' | 'presence'> {
  const wanted = state ?? (presence ? 'all' : 'active');
  return {
    visState: visStates[wanted],
    presence: presence ?? (wanted === 'active' ? 'present' : undefined),
  };
}

const shown = [
  'account_id',
  'vendorid',
  'vendor_name',
  'vis_state',
  'presence',
  'is_1099',
  'primary_contact_email',
  'country',
  'currency_code',
  'updated_at',
  'changed_at',
] as const satisfies (keyof VendorTable)[];

export type ListedVendor = Omit<Pick<VendorTable, (typeof shown)[number]>, 'is_1099'> & {
  readonly is_1099: boolean | null;
  readonly outstanding: readonly Balance[];
  readonly overdue: readonly Balance[];
};

export interface VendorList {
  /** How many there are, whatever the limit. */
  readonly total: number;
  readonly vendors: readonly ListedVendor[];
}

/** The vendors that pass the filter, by account and number. */
export function listVendors(sqlite: Sqlite, filter: VendorFilter): VendorList {
  const vendors = vendorsWith(sqlite, filter);
  const [total] = ask(
    sqlite,
    mirrorSql
      .selectFrom('vendors as v')
      .where(() => all(conditions(filter)))
      .select((eb) => eb.fn.countAll<number>().as('count')),
  );
  return { total: total?.count ?? 0, vendors };
}

/** The vendors that pass the filter, and a further condition on `v`, by account and number. */
export function vendorsWith(sqlite: Sqlite, filter: VendorFilter, condition = sql<SqlBool>`true`): ListedVendor[] {
  sqlite.function('folded', { deterministic: true }, folded);
  return ask<ListedRow>(
    sqlite,
    mirrorSql
      .selectFrom('vendors as v')
      .where(() => all([condition, ...conditions(filter)]))
      .select(shown.map((name) => `v.${name}` as const))
      .select([amounts('outstanding').as('outstanding'), amounts('overdue').as('overdue')])
      .orderBy('v.account_id')
      .orderBy('v.vendorid')
      .limit(filter.limit ?? -1),
  ).map(listed);
}

type ListedRow = Pick<VendorTable, (typeof shown)[number]> & { outstanding: string; overdue: string };

function listed(row: ListedRow): ListedVendor {
  return {
    ...row,
    is_1099: row.is_1099 === null ? null : row.is_1099 === 1,
    outstanding: JSON.parse(row.outstanding) as Balance[],
    overdue: JSON.parse(row.overdue) as Balance[],
  };
}

/** A vendor's amounts of one kind, as a JSON array. */
function amounts(kind: 'outstanding' | 'overdue'): ReturnType<typeof sql<string>> {
  return sql<string>`(SELECT json_group_array(json_object('amount', ${asText(sql`amount`)}, 'code', ${asText(sql`code`)})) FROM vendor_balances b
    WHERE b.account_id = v.account_id AND b.vendorid = v.vendorid AND b.kind = ${kind})`;
}

/** A column as a text that JSON can hold. */
function asText(value: ReturnType<typeof sql>): ReturnType<typeof sql<string>> {
  return sql<string>`iif(typeof(${value}) = 'blob', concat('x''', lower(hex(${value})), ''''), ${value})`;
}

const searched = sql`concat_ws(char(10), v.vendor_name, v.primary_contact_first_name, v.primary_contact_last_name,
  v.primary_contact_email, v.account_number, v.city)`;

function conditions({ account, visState, presence, search }: VendorFilter): Expression<SqlBool>[] {
  return [
    ...(account === undefined ? [] : [sql<SqlBool>`v.account_id = ${account}`]),
    ...(visState === undefined ? [] : [sql<SqlBool>`v.vis_state = ${visState}`]),
    ...(presence === undefined ? [] : [sql<SqlBool>`v.presence = ${presence}`]),
    ...(search === undefined ? [] : [sql<SqlBool>`instr(folded(${searched}), ${folded(search)}) > 0`]),
  ];
}

function all(parts: Expression<SqlBool>[]): Expression<SqlBool> {
  return parts.length === 0 ? sql<SqlBool>`true` : sql<SqlBool>`${sql.join(parts, sql` AND `)}`;
}

/** Text without case and accents: what a search compares. */
function folded(text: unknown): string {
  return String(text)
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase();
}
