/**
 * Fills every text of every table with a value that stands nowhere else and says whose it is. Tables and columns are read from the schema:
 * a new one is filled without a change here.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { neededFields, vendorFields } from '../../../src/domain/vendor.ts';
import { otherConnection } from '../mirror-file.ts';

export const [one, other] = ['6BApk', 'other'];
const accounts = [one, other];
const vendorids = [11, 12];
/** A field of the service that this program does not know. */
export const unknown = 'mood';
/** All that may be forgotten or excluded. */
export const fields = [...vendorFields, unknown].filter((field) => !neededFields.some((needed) => needed === field));

interface Column {
  readonly name: string;
  readonly type: string;
  readonly pk: number;
}

interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  /** The values that the schema allows, by column. */
  readonly allowed: ReadonlyMap<string, readonly string[]>;
  readonly json: ReadonlySet<string>;
}

/** Where a table names a vendor otherwise than by `vendorid`. */
const vendorColumns: Readonly<Record<string, string>> = { deliveries: 'object_id', _creations: 'vendor_name' };

function tablesOf(path: string): Table[] {
  const file = otherConnection(path);
  const list = file.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'");
  const columns = file.prepare('SELECT name, type, pk FROM pragma_table_info(?)');
  return (list.all() as { name: string; sql: string }[]).map(({ name, sql }) => ({
    name,
    columns: columns.all(name) as Column[],
    allowed: new Map(
      [...sql.matchAll(/CHECK \("?(\w+)"? IN \(([^)]*)\)\)/g)].map(([, column = '', list = '']) => [
        column,
        list.split(',').map((value) => value.trim().replaceAll("'", '')),
      ]),
    ),
    json: new Set(
      [...sql.matchAll(/CHECK \((?:\w+ IS NULL OR )?json_valid\((\w+)\)\)/g)].map(([, column = '']) => column),
    ),
  }));
}

/** What a text stands for: begins and ends so that no other contains it. */
export const canary = (whose: string, where: string, field = '-'): string => `<${whose}|${where}|${field}>`;

/** The field of the service whose value a column holds, if it holds one. */
function fieldIn(table: string, column: string, kind: string): string | undefined {
  if (table === 'vendors') return vendorFields.find((field) => field === column);
  if (table === 'vendor_balances' && kind !== '-') return `${kind}_balance`;
  if (table === '_balance_spans' && /^(outstanding|overdue)$/.test(column)) return `${column}_balance`;
  return table === 'vendor_tax_defaults' && column !== 'account_id' ? 'tax_defaults' : undefined;
}

/** What has one row, describes the file itself, or says that a vendor is forgotten or the mirror was moved. */
const untouched =
  /^(migrations|_reading_counter|mirror_identity|owner|_feed_removed|_feed_epochs|_forgotten_vendors|_moved|data_dictionary|.*_types)$/;

const nameOf = (account: string, vendorid: number): string => canary(`${account}/${vendorid}`, 'name', 'vendor_name');

/** One row for each account, vendor and value that a key may have; its every text is a canary. */
export function fill(path: string): void {
  const file = otherConnection(path);
  file.pragma('foreign_keys = OFF');
  let number = 1_000;
  for (const table of tablesOf(path)) {
    const { name, columns, allowed, json } = table;
    if (untouched.test(name)) continue;
    const vendorColumn = columns.some((column) => column.name === 'vendorid') ? 'vendorid' : vendorColumns[name];
    const kinds = columns.some(({ name: column, pk }) => pk > 0 && column === 'kind') ? allowed.get('kind')! : ['-'];
    for (const account of columns.some((column) => column.name === 'account_id') ? accounts : ['-'])
      for (const vendorid of vendorColumn === undefined ? [0] : vendorids)
        for (const kind of kinds) {
          const valueOf = ({ name: column, type }: Column): string | number => {
            const whose = vendorColumn === undefined ? account : `${account}/${vendorid}`;
            const where = `${name}.${column}${kind === '-' ? '' : ` ${kind}`}`;
            if (column === 'account_id') return account;
            if (column === 'vendor_name') return nameOf(account, vendorid);
            if (column === vendorColumn) return vendorid;
            if (name === 'deliveries' && column === 'name') return 'bill_vendor.update';
            if (column === 'kind' && kind !== '-') return kind;
            if (column === 'raw' || column === 'unknown_fields') {
              const members = column === 'raw' ? fields : [unknown];
              return JSON.stringify(Object.fromEntries(members.map((field) => [field, canary(whose, where, field)])));
            }
            if (json.has(column)) return JSON.stringify([canary(whose, where)]);
            if (allowed.has(column)) return allowed.get(column)![0]!;
            if (/INT|REAL|BOOL/.test(type)) return type === 'BOOLEAN' ? 1 : (number += 1);
            return canary(whose, where, fieldIn(name, column, kind));
          };
          file
            .prepare(
              `INSERT OR REPLACE INTO ${name} (${columns.map((column) => `"${column.name}"`).join()}) VALUES (${columns.map(() => '?').join()})`,
            )
            .run(columns.map(valueOf));
        }
  }
  file.close();
}

/** The canaries in the bytes of all files of a folder. */
export function found(folder: string): string[] {
  const all = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'));
  return [
    ...new Set(all.flatMap((bytes) => [...bytes.matchAll(/<[\w/-]+\|[\w. ]+\|[\w-]+>/g)].map(([text]) => text))),
  ].sort();
}
