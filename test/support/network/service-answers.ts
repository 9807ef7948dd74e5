/** Answers of the service, written down. */
import { readFileSync } from 'node:fs';

export function fixture(name: string): string {
  return readFileSync(new URL(`../../fixtures/${name}.json`, import.meta.url), 'utf8');
}

export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return new Response(text, { status, headers: { 'content-type': 'application/json', ...headers } });
}

export function html(status = 200): Response {
  return new Response('<html><body>Down for maintenance</body></html>', {
    status,
    headers: { 'content-type': 'text/html' },
  });
}

/** A page of the vendor list. */
export function page(vendorids: readonly number[], paging: Record<string, unknown> = {}): Response {
  const rows = vendorids.map((vendorid) => ({ vendorid, vendor_name: `Vendor ${vendorid}`, vis_state: 0 }));
  return json({
    response: { result: { bill_vendors: rows, page: 1, pages: 1, per_page: 100, total: rows.length, ...paging } },
  });
}

export function one(vendorid: number): Response {
  return json({ response: { result: { bill_vendor: { vendorid, vendor_name: `Vendor ${vendorid}` } } } });
}

/** A record of the service, as it stands on the wire. */
export type Wire = Record<string, unknown>;

/** What an answer about vendors holds: a page of the list, or one vendor. */
interface VendorResult {
  bill_vendors?: Wire[];
  bill_vendor?: Wire;
  page?: number;
  pages?: number;
  total?: number;
}

/** Changes what answers about vendors hold, on their way. */
export function changingResults(change: (result: VendorResult, url: URL) => void): (text: string, url: URL) => string {
  return (text, url) => {
    const document = JSON.parse(text) as { response?: { result?: VendorResult } };
    const result = document.response?.result;
    if (result?.bill_vendors || result?.bill_vendor) change(result, url);
    return JSON.stringify(document);
  };
}

/** Changes each record, of lists and of reads by number. */
export function changingRecords(change: (record: Wire) => unknown): (text: string, url: URL) => string {
  return changingResults((result) => {
    if (result.bill_vendors) result.bill_vendors = result.bill_vendors.map((record) => change(record) as Wire);
    if (result.bill_vendor) result.bill_vendor = change(result.bill_vendor) as Wire;
  });
}

/** A connection that fails with this code. */
export function broken(code: string): Error {
  return Object.assign(new Error(code), { code });
}
