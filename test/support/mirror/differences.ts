/** Compares the mirror with the service, field by field, by a reading of the reference of its own. */
import type { Sandbox } from '../../../src/sandbox/service.ts';
import { account } from '../names.ts';
import type { AccountTestbed } from '../testbed/account.ts';

type Wire = Readonly<Record<string, unknown>>;

/** Each vendor of `source` that the mirror holds otherwise or not at all, in words; empty when all is equal. */
export function differences(at: Pick<AccountTestbed, 'query'>, source: readonly Wire[]): string[] {
  const rows = new Map(
    at
      .query<Wire & { vendorid: number }>('SELECT * FROM vendors WHERE account_id = ?', account)
      .map((row) => [row.vendorid, row]),
  );
  const balances = byVendor(
    at.query<{ vendorid: number; kind: string; amount: string; code: string }>(
      'SELECT * FROM vendor_balances WHERE account_id = ? ORDER BY code',
      account,
    ),
  );
  const taxes = byVendor(
    at.query<Wire & { vendorid: number }>(
      'SELECT * FROM vendor_tax_defaults WHERE account_id = ? ORDER BY taxid',
      account,
    ),
  );
  const found: string[] = [];
  for (const wire of source) {
    const vendorid = Number(wire['vendorid']);
    const row = rows.get(vendorid);
    if (!row) {
      found.push(`${vendorid} is not in the mirror`);
      continue;
    }
    const compare = (field: string, here: unknown, there: unknown): void => {
      if (JSON.stringify(here) !== JSON.stringify(there))
        found.push(`${vendorid}.${field} is ${JSON.stringify(here)}, should be ${JSON.stringify(there)}`);
    };
    if (row['presence'] !== 'present') found.push(`${vendorid} is ${String(row['presence'])}`);
    for (const [field, value] of Object.entries(wire)) {
      if (field === 'outstanding_balance' || field === 'overdue_balance') {
        const kind = field.replace('_balance', '');
        const held = (balances.get(vendorid) ?? [])
          .filter((balance) => balance.kind === kind)
          .map(({ amount, code }) => ({ amount, code }));
        compare(field, held, amountsOf(value));
      } else if (field === 'tax_defaults') {
        const held = (taxes.get(vendorid) ?? []).map((tax) => taxOf({ ...tax, enabled: tax['enabled'] === 1 }));
        compare(field, held, [...(value as Wire[])].sort((a, b) => Number(a['taxid']) - Number(b['taxid'])).map(taxOf));
      } else if (field === 'is_1099') compare(field, row[field], Number(value));
      else if (field === 'vis_state') compare(field, row[field], Number(value));
      else compare(field, row[field], value);
    }
  }
  return found;
}

/** The service's own record of each vendor: as a read by id shows it, and only where there is none, as lists do. */
export function recordsOf(sandbox: Sandbox): Wire[] {
  const vendors = sandbox.vendors(account);
  return sandbox.world.readOne === 'yes' ? vendors.all() : vendors.listed();
}

/** Whatever differs once all is quiet: vendors alive at the service, and those that only the mirror takes for active. */
export function activeDifferences(at: Pick<AccountTestbed, 'query' | 'sandbox'>): string[] {
  const alive = recordsOf(at.sandbox).filter((row) => Number(row['vis_state']) !== 1);
  const numbers = new Set(alive.map((row) => row['vendorid']));
  const tooMany = at
    .query<{ vendorid: number }>('SELECT vendorid FROM vendors WHERE presence = ? AND vis_state <> 1', 'present')
    .filter(({ vendorid }) => !numbers.has(vendorid))
    .map(({ vendorid }) => `${vendorid} is present here, and not at the service`);
  return [...differences(at, alive), ...tooMany];
}

function byVendor<Row extends { readonly vendorid: number }>(rows: readonly Row[]): ReadonlyMap<number, Row[]> {
  const grouped = new Map<number, Row[]>();
  for (const row of rows) {
    const group = grouped.get(row.vendorid);
    if (group) group.push(row);
    else grouped.set(row.vendorid, [row]);
  }
  return grouped;
}

function taxOf(tax: Wire): unknown[] {
  return ['taxid', 'system_taxid', 'enabled', 'name', 'amount', 'tax_authorityid', 'created_at', 'updated_at'].map(
    (name) => tax[name],
  );
}

/** An array of objects with `amount`, or (field list) the object itself. */
function amountsOf(value: unknown): { amount: string; code: string }[] {
  const list = Array.isArray(value) ? value : value === null ? [] : [value];
  return (list as { amount: string | { amount: string; code: string }; code: string }[])
    .map((entry) => (typeof entry.amount === 'object' ? entry.amount : { amount: entry.amount, code: entry.code }))
    .map(({ amount, code }) => ({ amount, code }))
    .sort((a, b) => (a.code < b.code ? -1 : 1));
}
