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

/** A connection that fails with this code. */
export function broken(code: string): Error {
  return Object.assign(new Error(code), { code });
}
