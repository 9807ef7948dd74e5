/** Whether what a reader sees is whole (P5): every row, its children and its history tell the same story. */
import { textFields } from '../../src/vendor.ts';
import type { Reader } from './reader.ts';

interface Row {
  readonly vendorid: number;
  readonly raw: string;
}

interface Money {
  readonly amount: string | Money;
  readonly code: string;
}

const plain = [...textFields, 'is_1099'].map((field) => `v.${field} IS NOT json_extract(v.raw, '$.${field}')`);

const torn = `
  SELECT v.vendorid, 'its columns differ from its record' AS what FROM vendors v WHERE ${plain.join(' OR ')}
  UNION ALL
  SELECT v.vendorid, 'its history differs from it' FROM vendors v LEFT JOIN vendor_versions o
    ON o.account_id = v.account_id AND o.vendorid = v.vendorid AND o.valid_to IS NULL
    GROUP BY v.vendorid HAVING count(o.seq) <> 1 OR max(o.raw) IS NOT v.raw OR max(o.vis_state) IS NOT v.vis_state
      OR (v.presence <> 'suspect' AND max(o.presence) IS NOT v.presence)
  UNION ALL
  SELECT o.vendorid, 'its history is of nobody' FROM vendor_versions o
    WHERE NOT EXISTS (SELECT 1 FROM vendors v WHERE v.account_id = o.account_id AND v.vendorid = o.vendorid)
  UNION ALL
  SELECT v.vendorid, 'its state differs from its record' FROM vendors v
    WHERE v.vis_state_source = 'reported' AND v.vis_state <> CAST(json_extract(v.raw, '$.vis_state') AS INTEGER)`;

/** What a record says of its children, as texts that can be compared with rows. */
interface Children {
  readonly balances: string;
  readonly taxes: string;
}

/** Most records stay as they are from one look to the next. */
export type Known = Map<string, Children>;

/** What is torn, in words. */
export function tears(reader: Reader, known: Known): string[] {
  const found = reader
    .rows<{ vendorid: number; what: string }>(torn)
    .map(({ vendorid, what }) => `vendor ${vendorid}: ${what}`);
  const balances = grouped(
    reader,
    'SELECT vendorid, kind || code || amount AS text FROM vendor_balances ORDER BY 1, 2',
  );
  const taxes = grouped(
    reader,
    'SELECT vendorid, taxid || name || amount || enabled AS text FROM vendor_tax_defaults ORDER BY 1, 2',
  );
  for (const { vendorid, raw } of reader.rows<Row>('SELECT vendorid, raw FROM vendors')) {
    const told = known.get(raw) ?? childrenIn(raw);
    known.set(raw, told);
    if (balances(vendorid) !== told.balances) found.push(`vendor ${vendorid}: its balances differ from its record`);
    if (taxes(vendorid) !== told.taxes) found.push(`vendor ${vendorid}: its taxes differ from its record`);
  }
  return found;
}

function childrenIn(raw: string): Children {
  const told = JSON.parse(raw) as Readonly<Record<string, unknown>>;
  const money = (['outstanding', 'overdue'] as const).flatMap((kind) =>
    amounts(told[`${kind}_balance`]).map(({ amount, code }) => `${kind}${code}${amount}`),
  );
  const levies = (told['tax_defaults'] as Readonly<Record<string, unknown>>[]).map(
    (tax) => `${String(tax['taxid'])}${String(tax['name'])}${String(tax['amount'])}${Number(tax['enabled'])}`,
  );
  return { balances: money.sort().join(), taxes: levies.sort().join() };
}

function grouped(reader: Reader, sql: string): (vendorid: number) => string {
  const texts = new Map<number, string[]>();
  for (const { vendorid, text } of reader.rows<{ vendorid: number; text: string }>(sql))
    texts.set(vendorid, [...(texts.get(vendorid) ?? []), text]);
  return (vendorid) => (texts.get(vendorid) ?? []).sort().join();
}

function amounts(told: unknown): { amount: string; code: string }[] {
  const list = Array.isArray(told) ? (told as { amount: Money }[]) : told === null ? [] : [told as Money];
  return list.map(
    (entry) => (typeof entry.amount === 'object' ? entry.amount : entry) as { amount: string; code: string },
  );
}
