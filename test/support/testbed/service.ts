/** A sandbox without sockets, on a clock that the test moves. */
import { onTestFinished } from 'vitest';
import type { Answer } from '../../../src/sandbox/core/reply.ts';
import { Sandbox, type SandboxOptions } from '../../../src/sandbox/service.ts';
import { oddWorld } from '../odd-world.ts';
import { account, token } from '../names.ts';
import { virtualClock, type VirtualClock } from '../virtual-clock.ts';

/** One POST that arrived at a callback. */
export interface Arrival {
  readonly uri: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly form: URLSearchParams;
}

export interface VendorRow {
  readonly note?: string | null;
  readonly vendorid: number;
  readonly vis_state: number | string;
  readonly account_number: string | null;
  readonly city: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly tax_defaults: readonly object[];
}

export interface CallbackRow {
  readonly callbackid: number;
  readonly id: number;
  readonly event: string;
  readonly verified: boolean;
}

export interface Result {
  readonly bill_vendor: VendorRow;
  readonly bill_vendors: readonly VendorRow[];
  readonly callback: CallbackRow;
  readonly callbacks: readonly CallbackRow[];
  readonly gateways: readonly { readonly sgid: number }[];
  readonly page: number;
  readonly pages: number;
  readonly per_page: number;
  readonly total: number;
}

/** Whatever stands in the bodies of answers; each has a part of it. */
export interface Body {
  readonly response: {
    readonly result: Result;
    readonly errors: readonly [{ readonly errno: number; readonly field: string }];
  };
  readonly errno: number;
  readonly details: readonly [{ readonly reason: string }];
}

export interface ServiceAnswer {
  readonly status: number;
  readonly headers: Answer['headers'];
  /** Of a JSON answer that is not compressed. */
  readonly json: Body;
  readonly text: string;
  readonly answer: Answer;
}

export const vendorsPath = `/accounting/account/${account}/bill_vendors/bill_vendors`;
export const gatewaysPath = `/accounting/account/${account}/systems/gateways`;
export const callbacksPath = `/events/account/${account}/events/callbacks`;

export interface ServiceOptions extends Partial<Omit<SandboxOptions, 'world'>> {
  /** `key=value`, as in `sandbox --world`. */
  readonly world?: readonly string[];
}

export interface ServiceTestbed {
  readonly sandbox: Sandbox;
  readonly clock: VirtualClock;
  readonly arrivals: Arrival[];
  /** What the receivers answer from now on; undefined for no answer. */
  readonly answerWith: (status: number | undefined) => void;
  readonly ask: (
    method: string,
    target: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<ServiceAnswer>;
  readonly get: (target: string) => Promise<ServiceAnswer>;
  /** Registers and verifies a callback; returns its id. */
  readonly subscribe: (event?: string, uri?: string) => Promise<number>;
}

export function openService({ world = [], ...options }: ServiceOptions): Promise<ServiceTestbed> {
  const clock = virtualClock({ start: Date.UTC(2026, 0, 15, 12) });
  const arrivals: Arrival[] = [];
  let receiverStatus: number | undefined = 200;
  const post = (uri: string, headers: Readonly<Record<string, string>>, body: string) => {
    arrivals.push({ uri, headers, body, form: new URLSearchParams(body) });
    return receiverStatus === undefined
      ? Promise.reject(new Error('no answer'))
      : Promise.resolve({ status: receiverStatus });
  };
  const sandbox = new Sandbox(
    {
      seed: 'test',
      accounts: [account],
      token,
      rateLimits: null,
      deliveries: { delay: [0, 0] },
      ...options,
      world: oddWorld(...world),
    },
    { clock, post },
  );
  const ask: ServiceTestbed['ask'] = async (method, target, body, headers = {}) => {
    const [path = '', query = ''] = target.split('?');
    const answer = await sandbox.handle({
      method,
      path,
      query: new URLSearchParams(query),
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: Buffer.from(body === undefined ? '' : JSON.stringify(body)),
    });
    const text = Buffer.from(answer.body).toString();
    const isJson = answer.headers['content-type'] === 'application/json' && !answer.headers['content-encoding'];
    const { status } = answer;
    return { status, headers: answer.headers, text, answer, json: (isJson ? JSON.parse(text) : undefined) as Body };
  };
  onTestFinished(() => sandbox.stop());
  return Promise.resolve({
    sandbox,
    clock,
    arrivals,
    answerWith(status: number | undefined) {
      receiverStatus = status;
    },
    ask,
    get: (target: string) => ask('GET', target),
    async subscribe(event = 'bill_vendor', uri = 'https://mirror.example/hook') {
      const registered = await ask('POST', callbacksPath, { callback: { event, uri } });
      const id = registered.json.response.result.callback.callbackid;
      await ask('PUT', `${callbacksPath}/${id}`, {
        callback: { verifier: sandbox.callbacks(account).get(id)!.verifier },
      });
      await clock.advance(1_000);
      arrivals.length = 0;
      return id;
    },
  });
}

/** Every id that the list shows, page after page. */
export async function walk(
  { get }: ServiceTestbed,
  query = 'per_page=100',
): Promise<{ ids: number[]; pages: Result[] }> {
  const pages: Result[] = [];
  for (let page = 1; page <= (pages[0]?.pages ?? 1); page += 1)
    pages.push((await get(`${vendorsPath}?${query}&page=${page}`)).json.response.result);
  return { pages, ids: pages.flatMap(idsOf) };
}

export function idsOf({ bill_vendors }: Result): number[] {
  return bill_vendors.map(({ vendorid }) => vendorid);
}
