/** A service whose answers are written down beforehand, and a client that talks to it with a clock and random numbers of the test. */
import { readFileSync } from 'node:fs';
import type { ApiDependencies, AttemptFacts, Service } from '../../../src/api/call/call.ts';
import { connect, type ServiceClient } from '../../../src/api/client.ts';
import { fixedToken } from '../../../src/api/auth/token-source.ts';
import type { Random } from '../../../src/domain/clock.ts';
import { Secret, silentLog } from '../../../src/domain/log.ts';
import type { ReadStamp } from '../../../src/domain/reading.ts';
import type { ReserveRequest } from '../../../src/domain/rate-reservation.ts';
import { virtualClock, type VirtualClock } from '../virtual-clock.ts';

const baseUrl = 'https://api.service.example';
export const token = 'canary-access-token-5f2c';

const service: Service = {
  baseUrl,
  apiVersion: 'alpha',
  paging: { pageParam: 'page', perPageParam: 'per_page', perPage: 100, concurrency: 4 },
  timeout: 600_000,
  rateLimit: { vendors: { requests: 600, per: 60_000 }, callbacks: { requests: 20, per: 60_000 } },
};

/** Random numbers that are always the same one. */
export const loaded = (fraction: number): Random => ({
  bytes: (count) => new Uint8Array(count),
  fraction: () => fraction,
});

export function fixture(name: string): string {
  return readFileSync(new URL(`../../fixtures/${name}.json`, import.meta.url), 'utf8');
}

interface Sent {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly at: number;
}

export type Scripted = Response | Error | ((sent: Sent) => Response | Promise<Response>);

export interface ScriptedService {
  readonly client: ServiceClient;
  readonly clock: VirtualClock;
  readonly sent: Sent[];
  readonly observed: AttemptFacts[];
  /** Numbers of the stamps that were taken. */
  readonly stamps: number[];
}

/** A client whose n-th request gets the n-th answer; the last one stays. */
export function scriptedService(
  answers: readonly Scripted[],
  changes: Partial<ApiDependencies & Service> = {},
  accountId = '6BApk',
): ScriptedService {
  const clock = virtualClock({ auto: true, deadline: 600_000 });
  const sent: Sent[] = [];
  const observed: AttemptFacts[] = [];
  const stamps: number[] = [];
  const fetch = async (input: unknown, init: RequestInit = {}): Promise<Response> => {
    const request = {
      method: init.method ?? 'GET',
      url: new URL(String(input)),
      headers: init.headers as Record<string, string>,
      body: typeof init.body === 'string' ? (JSON.parse(init.body) as unknown) : undefined,
      at: clock.monotonic(),
    };
    const answer = answers[Math.min(sent.length, answers.length - 1)];
    sent.push(request);
    if (answer === undefined || answer instanceof Error) throw answer ?? new Error('Nothing is scripted.');
    return typeof answer === 'function' ? answer(request) : answer.clone();
  };
  const client = connect({ ...service, ...changes }, accountId, {
    clock,
    random: loaded(0.5),
    fetch,
    log: silentLog,
    reserveRequest: freeReservations(() => {
      stamps.push(stamps.length + 1);
      return { readSeq: stamps.length, begun: clock.monotonic() };
    }),
    tokens: fixedToken(new Secret(token)),
    observe: (facts) => observed.push(facts),
    ...changes,
  });
  return { client, clock, sent, observed, stamps };
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

/** What a fetch throws for a network failure. */
export function broken(code: string): TypeError {
  return new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) });
}

/** Turns of a rate that nobody shares. */
export function freeReservations(stamp: () => ReadStamp): ReserveRequest {
  return () => Promise.resolve({ stamp: stamp(), end: () => Promise.resolve() });
}
