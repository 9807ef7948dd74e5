/** Whether what a reader sees is whole (P5): every row, its children and its history tell the same story. */
import { textFields } from '../../../src/domain/vendor.ts';
import type { Reader } from './reader.ts';

interface Row {
  readonly vendorid: number;
  readonly raw: string;
  readonly columns: string;
  /** Its state, where the service reported it. */
  readonly reported: number | null;
}

interface Money {
  readonly amount: string | Money;
  readonly code: string;
}

type Plain = string | number | boolean | null | undefined;

const plain = [...textFields, 'is_1099'];

/** %Q writes a value as a statement would hold it: nothing and an empty text differ. */
const rows = `
  SELECT vendorid, raw, printf('${plain.map(() => '%Q').join()}', ${plain.join()}) AS columns,
    CASE vis_state_source WHEN 'reported' THEN vis_state END AS reported FROM vendors WHERE account_id = ?`;

const brokenHistories = `
  SELECT v.vendorid, 'its history differs from it' AS what FROM vendors v LEFT JOIN vendor_versions o
    ON o.account_id = v.account_id AND o.vendorid = v.vendorid AND o.valid_to IS NULL
    WHERE v.account_id = ?
    GROUP BY v.account_id, v.vendorid HAVING count(o.seq) <> 1 OR max(o.raw) IS NOT v.raw OR max(o.vis_state) IS NOT v.vis_state
      OR (v.presence <> 'suspect' AND max(o.presence) IS NOT v.presence)
  UNION ALL
  SELECT o.vendorid, 'its history is of nobody' FROM vendor_versions o
    WHERE o.account_id = ? AND NOT EXISTS (SELECT 1 FROM vendors v WHERE v.account_id = o.account_id AND v.vendorid = o.vendorid)`;

/** What a record says, in the form in which rows can be compared with it. */
interface RecordText {
  readonly columns: string;
  readonly state: number;
  readonly balances: string;
  readonly taxes: string;
}

/** Most records stay as they are from one look to the next. */
export type Known = Map<string, RecordText>;

/** What is inconsistent, in words. */
export function inconsistencies(reader: Reader, account: string, known: Known): string[] {
  const found = reader
    .rows<{ vendorid: number; what: string }>(brokenHistories, account, account)
    .map(({ vendorid, what }) => `vendor ${vendorid}: ${what}`);
  const balances = grouped(
    reader,
    'SELECT vendorid, kind || code || amount AS text FROM vendor_balances WHERE account_id = ? ORDER BY 1, 2',
    account,
  );
  const taxes = grouped(
    reader,
    'SELECT vendorid, taxid || name || amount || enabled AS text FROM vendor_tax_defaults WHERE account_id = ? ORDER BY 1, 2',
    account,
  );
  for (const { vendorid, raw, columns, reported } of reader.rows<Row>(rows, account)) {
    const told = known.get(raw) ?? recordedBy(raw);
    known.set(raw, told);
    const differs = (what: string): void => void found.push(`vendor ${vendorid}: its ${what} from its record`);
    if (columns !== told.columns) differs('columns differ');
    if (reported !== null && reported !== told.state) differs('state differs');
    if (balances(vendorid) !== told.balances) differs('balances differ');
    if (taxes(vendorid) !== told.taxes) differs('taxes differ');
  }
  return found;
}

function recordedBy(raw: string): RecordText {
  const told = JSON.parse(raw) as Readonly<Record<string, unknown>>;
  const money = (['outstanding', 'overdue'] as const).flatMap((kind) =>
    amounts(told[`${kind}_balance`]).map(({ amount, code }) => `${kind}${code}${amount}`),
  );
  const levies = (told['tax_defaults'] as Readonly<Record<string, unknown>>[]).map(
    (tax) => `${String(tax['taxid'])}${String(tax['name'])}${String(tax['amount'])}${Number(tax['enabled'])}`,
  );
  return {
    columns: plain.map((field) => quoted(told[field] as Plain)).join(),
    state: Number(told['vis_state']),
    balances: money.sort().join(),
    taxes: levies.sort().join(),
  };
}

/** As %Q writes it. */
function quoted(value: Plain): string {
  if (value === null || value === undefined) return 'NULL';
  return `'${String(typeof value === 'boolean' ? Number(value) : value).replaceAll("'", "''")}'`;
}

function grouped(reader: Reader, sql: string, account: string): (vendorid: number) => string {
  const texts = new Map<number, string[]>();
  for (const { vendorid, text } of reader.rows<{ vendorid: number; text: string }>(sql, account))
    texts.set(vendorid, [...(texts.get(vendorid) ?? []), text]);
  return (vendorid) => (texts.get(vendorid) ?? []).sort().join();
}

function amounts(told: unknown): { amount: string; code: string }[] {
  const list = Array.isArray(told) ? (told as { amount: Money }[]) : told === null ? [] : [told as Money];
  return list.map(
    (entry) => (typeof entry.amount === 'object' ? entry.amount : entry) as { amount: string; code: string },
  );
}
