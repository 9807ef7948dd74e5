/** Fetching with node:http and nothing else: four requests under way at once on kept connections, as the program does. */
import { Agent, get } from 'node:http';
import { account, token, type Place } from '../setup/installation.ts';

const agent = new Agent({ keepAlive: true, maxSockets: 4 });
const concurrency = 4;

export interface Page {
  readonly response: {
    readonly result: { readonly bill_vendors: readonly WireVendor[]; readonly pages: number; readonly total: number };
  };
}

export type Text = string | null;
export interface WireBalance {
  readonly amount: { readonly amount: string; readonly code: string };
}
export type WireVendor = Readonly<Record<string, unknown>> & {
  readonly vendorid: number;
  readonly is_1099: boolean;
  readonly outstanding_balance: readonly WireBalance[];
  readonly overdue_balance: readonly WireBalance[];
  readonly tax_defaults: readonly (Readonly<Record<string, Text | number>> & { readonly enabled: boolean })[];
};

export function vendorPath(vendorid?: number): string {
  const base = `/accounting/account/${account}/bill_vendors/bill_vendors`;
  return vendorid === undefined ? base : `${base}/${vendorid}`;
}

/** The document at a path. */
export function bareGet(baseUrl: string, path: string): Promise<unknown> {
  const headers = { accept: 'application/json', authorization: `Bearer ${token}`, 'api-version': 'alpha' };
  return new Promise((resolve, reject) => {
    get(baseUrl + path, { agent, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString())));
    }).on('error', reject);
  });
}

/** Every page once. `before` is called before each request, and what it returned is handed to `take` with the page; the next request waits for it. */
export async function eachPage<T>(
  place: Place,
  before: () => T,
  take: (page: Page, started: T) => unknown,
): Promise<void> {
  let pages = 1;
  const fetchOne = async (page: number): Promise<void> => {
    const started = before();
    const document = (await bareGet(place.baseUrl, `${vendorPath()}?page=${page}&per_page=${place.perPage}`)) as Page;
    ({ pages } = document.response.result);
    await take(document, started);
  };
  await fetchOne(1);
  let next = 2;
  const lane = async (): Promise<void> => {
    while (next <= pages) await fetchOne(next++);
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
}
