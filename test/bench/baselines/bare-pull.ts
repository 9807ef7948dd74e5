/**
 * The baseline of a first pull: the same bytes fetched and parsed, and the same rows written with bare prepared statements in the same
 * transactions: one before each request, which numbers it and waits for no disk, and a durable one for all pages that arrived in one turn of
 * the event loop.
 */
import type BetterSqlite3 from 'better-sqlite3';
import type { Sqlite } from '../../../src/store/sqlite/driver.ts';
import { textFields } from '../../../src/domain/vendor.ts';
import { eachPage, type WireVendor } from './bare-get.ts';
import { bareMirror, timed } from './bare-mirror.ts';
import { account, type Place } from '../setup/installation.ts';
import type { JobResult } from '../setup/job.ts';

export async function job(place: Place): Promise<JobResult> {
  return { result: await timed(() => pull(place)) };
}

async function pull(place: Place): Promise<void> {
  const sqlite = bareMirror(place.folder);
  const write = bareWriter(sqlite);
  const number = sqlite.prepare<[], { read_seq: number }>(
    'UPDATE _reading_counter SET read_seq = read_seq + 1 RETURNING read_seq',
  );
  const progress = sqlite.prepare('UPDATE runs SET pages = pages + ?, seen = seen + ?, created = created + ?');
  sqlite.exec(
    `INSERT INTO runs (account_id, kind, "trigger", started_at, outcome, process, began_seq) VALUES ('${account}', 'pull', 'command', '${now()}', 'running', 'bare', 0)`,
  );
  const takeNumber = sqlite.transaction(() => number.get()!.read_seq);
  let waiting: { readonly vendors: readonly WireVendor[]; readonly readSeq: number }[] = [];
  const takePages = sqlite.transaction((pages: typeof waiting) => {
    const at = now();
    for (const { vendors, readSeq } of pages) for (const vendor of vendors) write(vendor, at, readSeq);
    const seen = pages.reduce((sum, { vendors }) => sum + vendors.length, 0);
    progress.run(pages.length, seen, seen);
  });
  const takeWaiting = (): void => {
    if (waiting.length > 0) takePages.immediate(waiting);
    waiting = [];
  };
  await eachPage(
    place,
    () => {
      sqlite.exec('PRAGMA synchronous = NORMAL');
      const taken = takeNumber.immediate();
      sqlite.exec('PRAGMA synchronous = FULL');
      return taken;
    },
    ({ response }, readSeq) => {
      if (waiting.length === 0) setImmediate(takeWaiting);
      waiting.push({ vendors: response.result.bill_vendors, readSeq });
    },
  );
  takeWaiting();
  sqlite.exec(`UPDATE runs SET outcome = 'complete', finished_at = '${now()}'`);
  sqlite.close();
}

function now(): string {
  return new Date().toISOString().replace('T', ' ').slice(0, 23);
}

type Write = (vendor: WireVendor, at: string, readSeq: number) => void;

function bareWriter(sqlite: Sqlite): Write {
  const insert = (table: string, columns: readonly string[]): BetterSqlite3.Statement =>
    sqlite.prepare(`INSERT INTO ${table} (${columns.join()}) VALUES (${columns.map(() => '?').join()})`);
  const vendor = insert('vendors', [
    ...['account_id', 'vendorid', ...textFields, 'is_1099', 'vis_state', 'first_seen_at', 'changed_at', 'source'],
    ...['read_seq', 'held_since_ms', 'raw'],
  ]);
  const version = insert('_vendor_versions', [
    ...['account_id', 'vendorid', 'valid_from', 'vis_state', 'vis_state_source', 'presence', 'changed_fields'],
    ...['source', 'run_id'],
  ]);
  const balance = insert('vendor_balances', ['account_id', 'vendorid', 'kind', 'code', 'amount', 'amount_minor']);
  const span = insert('_balance_spans', [
    ...['account_id', 'vendorid', 'code', 'valid_from', 'outstanding', 'outstanding_minor', 'overdue', 'overdue_minor'],
    ...['outstanding_amount', 'outstanding_units', 'overdue_amount', 'overdue_units', 'minor_digits', 'state'],
  ]);
  const tax = insert('vendor_tax_defaults', [
    ...['account_id', 'vendorid', 'taxid', 'system_taxid', 'enabled', 'name', 'amount', 'tax_authorityid'],
    ...['created_at', 'updated_at'],
  ]);
  return (told, at, readSeq) => {
    const { vendorid, vis_state } = told;
    const raw = JSON.stringify(told);
    const texts = textFields.map((field) => told[field] ?? null);
    const is1099 = told.is_1099 ? 1 : 0;
    vendor.run(account, vendorid, ...texts, is1099, vis_state, at, at, 'pull', readSeq, 0, raw);
    version.run(account, vendorid, at, vis_state, 'reported', 'present', '[]', 'pull', 1);
    const overdue = new Map(told.overdue_balance.map(({ amount }) => [amount.code, amount.amount]));
    for (const { amount } of told.outstanding_balance) {
      const late = overdue.get(amount.code);
      balance.run(account, vendorid, 'outstanding', amount.code, amount.amount, minor(amount.amount));
      if (late !== undefined) balance.run(account, vendorid, 'overdue', amount.code, late, minor(late));
      const amounts = [amount.amount, minor(amount.amount), late ?? null, late === undefined ? null : minor(late)];
      const numbers = [Number(amount.amount), minor(amount.amount), Number(late ?? 0), minor(late ?? '0'), 2, 'active'];
      span.run(account, vendorid, amount.code, at, ...amounts, ...numbers);
    }
    for (const each of told.tax_defaults) {
      const { taxid, system_taxid, name, amount, tax_authorityid, created_at, updated_at } = each;
      const enabled = each.enabled ? 1 : 0;
      tax.run(account, vendorid, taxid, system_taxid, enabled, name, amount, tax_authorityid, created_at, updated_at);
    }
  };
}

function minor(amount: string): number {
  return Math.round(Number(amount) * 100);
}
