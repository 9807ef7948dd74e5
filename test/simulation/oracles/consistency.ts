/** Whether what a reader sees is whole (P5): every row, its children and its history tell the same story. */
import { textFields } from '../../../src/domain/vendor.ts';
import type { Reader } from '../machine/world-store.ts';

interface Row extends Readonly<Record<string, Plain>> {
  readonly vendorid: number;
  readonly raw: string;
  readonly vis_state: number | null;
  readonly vis_state_source: string;
  readonly unreadable: string | null;
}

interface Money {
  readonly amount: string | Money;
  readonly code: string;
}

type Plain = string | number | boolean | null | undefined;

const plain = [...textFields, 'is_1099'];

const rows = `
  SELECT vendorid, raw, ${plain.join()}, vis_state, vis_state_source, unreadable_fields AS unreadable
  FROM vendors WHERE account_id = ?`;

const brokenHistories = `
  SELECT v.vendorid, 'its history differs from it' AS what FROM vendors v LEFT JOIN vendor_versions o
    ON o.account_id = v.account_id AND o.vendorid = v.vendorid AND o.valid_to IS NULL
    WHERE v.account_id = ?
    GROUP BY v.account_id, v.vendorid HAVING count(o.seq) <> 1 OR max(o.raw) IS DISTINCT FROM v.raw
      OR max(o.vis_state) IS DISTINCT FROM v.vis_state
      OR (v.presence <> 'suspect' AND max(o.presence) IS DISTINCT FROM v.presence)
  UNION ALL
  SELECT vendorid, 'a version or a balance of it ends before it begins' FROM (
    SELECT account_id, vendorid, valid_from, valid_to FROM vendor_versions
    UNION ALL SELECT account_id, vendorid, valid_from, valid_to FROM _balance_spans) AS span
    WHERE account_id = ? AND valid_to < valid_from
  UNION ALL
  SELECT NULL, 'run ' || id || ' ended before it began' FROM runs WHERE account_id = ? AND finished_at < started_at
  UNION ALL
  SELECT o.vendorid, 'its history is of nobody' FROM vendor_versions o
    WHERE o.account_id = ? AND NOT EXISTS (SELECT 1 FROM vendors v WHERE v.account_id = o.account_id AND v.vendorid = o.vendorid)`;

/** What a record says, in the form in which rows can be compared with it. */
interface RecordText {
  /** Of the plain fields, in their order. */
  readonly columns: readonly Plain[];
  /** Null where no state can be read. */
  readonly state: number | null;
  readonly balances: string;
  readonly taxes: string;
  /** Names of the fields that nobody can read. */
  readonly unreadable: readonly string[];
}

/** Most records stay as they are from one look to the next. */
export type Known = Map<string, RecordText>;

/** What is inconsistent, in words. */
export function inconsistencies(reader: Reader, account: string, known: Known): string[] {
  const found = reader
    .rows<{ vendorid: number | null; what: string }>(brokenHistories, account, account, account, account)
    .map(({ vendorid, what }) => (vendorid === null ? what : `vendor ${vendorid}: ${what}`));
  const balances = grouped(
    reader,
    'SELECT vendorid, kind || code || amount AS text FROM vendor_balances WHERE account_id = ? ORDER BY 1, 2',
    account,
  );
  const taxes = grouped(
    reader,
    'SELECT vendorid, taxid || name || amount || CAST(enabled AS INTEGER) AS text FROM vendor_tax_defaults WHERE account_id = ? ORDER BY 1, 2',
    account,
  );
  for (const row of reader.rows<Row>(rows, account)) {
    const { vendorid, raw, vis_state, vis_state_source, unreadable } = row;
    const told = known.get(raw) ?? recordedBy(raw);
    known.set(raw, told);
    const differs = (what: string): void => void found.push(`vendor ${vendorid}: its ${what} from its record`);
    if (plain.some((field, place) => row[field] !== told.columns[place])) differs('columns differ');
    if (vis_state_source === 'reported' && vis_state !== told.state) differs('state differs');
    const named = sorted(JSON.parse(unreadable ?? '[]') as string[], vis_state);
    if (named !== sorted(told.unreadable, vis_state)) differs('unreadable fields differ');
    if (balances(vendorid) !== told.balances) differs('balances differ');
    if (taxes(vendorid) !== told.taxes) differs('taxes differ');
  }
  return found;
}

/** Sorted names of fields that nobody can read; the state is none of them where it is inferred, as of a vendor that is missing. */
function sorted(fields: readonly string[], visState: number | null): string {
  return fields
    .filter((field) => field !== 'vis_state' || visState === null)
    .sort()
    .join();
}

/** Read by the reference alone: what has none of its forms is not understood, and is null; of a list, the rest is. */
function recordedBy(raw: string): RecordText {
  const told = JSON.parse(raw) as Readonly<Record<string, unknown>>;
  const unreadable = new Set<string>();
  const money = (['outstanding', 'overdue'] as const).flatMap((kind) => {
    const field = `${kind}_balance`;
    return amounts(told[field], () => unreadable.add(field)).map(({ amount, code }) => `${kind}${code}${amount}`);
  });
  const taxes = told['tax_defaults'] ?? [];
  if (!Array.isArray(taxes)) unreadable.add('tax_defaults');
  const levies = (Array.isArray(taxes) ? (taxes as Readonly<Record<string, unknown>>[]) : []).flatMap((tax) => {
    if (typeof tax['taxid'] === 'number')
      return [`${tax['taxid']}${String(tax['name'])}${String(tax['amount'])}${Number(tax['enabled'])}`];
    unreadable.add('tax_defaults');
    return [];
  });
  const columns = plain.map((field) => {
    if (isPlain(field, told[field])) return stored(told[field] as Plain);
    unreadable.add(field);
    return null;
  });
  const state = [0, 1, 2].find((known) => String(known) === String(told['vis_state'])) ?? null;
  if (state === null) unreadable.add('vis_state');
  return {
    columns,
    state,
    balances: money.sort().join(),
    taxes: levies.sort().join(),
    unreadable: [...unreadable],
  };
}

function isPlain(field: string, value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if (field === 'is_1099') return typeof value === 'boolean';
  return typeof value === 'string' && (!field.endsWith('_at') || /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(value));
}

/** As a column holds it. */
function stored(value: Plain): Plain {
  return typeof value === 'boolean' ? Number(value) : (value ?? null);
}

function grouped(reader: Reader, sql: string, account: string): (vendorid: number) => string {
  const texts = new Map<number, string[]>();
  for (const { vendorid, text } of reader.rows<{ vendorid: number; text: string }>(sql, account))
    texts.set(vendorid, [...(texts.get(vendorid) ?? []), text]);
  return (vendorid) => (texts.get(vendorid) ?? []).sort().join();
}

function amounts(told: unknown, onUnreadable: () => void): { amount: string; code: string }[] {
  const list = (Array.isArray(told) ? told : told == null ? [] : [told]) as { amount?: Money | null }[];
  return list.flatMap((entry) => {
    const { amount, code } = (typeof entry.amount === 'object' && entry.amount !== null ? entry.amount : entry) as {
      amount?: unknown;
      code?: unknown;
    };
    const isThere = typeof amount === 'string' && typeof code === 'string';
    // The reference sends decimal numbers; a list may cut one off behind its point.
    if (!isThere || !/^[+-]?\d+(\.\d+)?$/.test(amount.trim())) onUnreadable();
    return isThere ? [{ amount, code }] : [];
  });
}
