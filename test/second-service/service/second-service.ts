/**
 * A second accounting service, for tests: written from the reference of the API alone, by who had not read this program. It imports nothing
 * of the program nor of its sandbox, so that a mistake that both share does not pass here. What the reference leaves open is drawn
 * (`choices.ts`); what is true is in `records` (`records.ts`), whatever lists and answers say.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { type Answer, noAccess, noRoute, ok, page, refused, type Refusal, unknownVendor } from './answers.ts';
import { Callbacks } from './callbacks.ts';
import { Chance, type Choices } from './choices.ts';
import { Listing } from './listing.ts';
import { type Change, Records, type TextField, textFields, type Vendor } from './records.ts';
import { Rendering, type Shown } from './rendering.ts';

export interface ServedRequest {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly fault?: string;
}

/** Vendors with a path of their own: they are broken, or have a field that nobody can read. */
interface Odd {
  readonly brokenId: number | undefined;
  readonly unreadableId: number | undefined;
}

const faultShare = 0.25;
const maxBody = 1_000_000;

export class SecondService {
  readonly account: string;
  readonly choices: Choices;
  readonly records: Records;
  readonly listing: Listing;
  readonly callbacks: Callbacks;
  readonly rendering: Rendering;
  readonly odd: Odd;
  readonly requests: ServedRequest[] = [];
  readonly client = { id: 'second-client', secret: 'second-secret' };
  accessToken = 'first-access-token';
  refreshToken = 'first-refresh-token';
  #tokenUses = 0;
  #tokens = 1;
  #faulty = false;
  #restless = false;
  readonly #now: () => number;
  readonly #life: Chance;
  readonly #faults: Chance;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  private constructor(choices: Choices, now: () => number) {
    this.choices = choices;
    this.#now = now;
    const chance = new Chance(choices.seed, 'the account');
    this.account = chance.text(6);
    this.records = new Records(now, 1 + chance.below(100_000));
    this.rendering = new Rendering(choices);
    this.listing = new Listing(choices, this.records, this.rendering, now);
    this.callbacks = new Callbacks(choices, this.account);
    this.#life = new Chance(choices.seed, 'what people do');
    this.#faults = new Chance(choices.seed, 'faults');
    this.records.fill(chance, choices.vendors);
    const [brokenId, unreadableId] = chance.shuffled(this.records.all().map(({ id }) => id));
    this.odd = {
      brokenId: choices.broken === 'none' ? undefined : brokenId,
      unreadableId: choices.unreadable === 'nothing' ? undefined : unreadableId,
    };
    this.rendering.unreadableId = this.odd.unreadableId;
    this.records.onChange((change) => this.callbacks.announce(change));
  }

  static async start(choices: Choices, now: () => number): Promise<SecondService> {
    const service = new SecondService(choices, now);
    service.#server.on('connection', (socket) => {
      service.#sockets.add(socket);
      socket.on('close', () => service.#sockets.delete(socket));
    });
    await new Promise<void>((resolve) => service.#server.listen(0, '127.0.0.1', resolve));
    return service;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Faults, changes between pages, lagging copies and disturbed deliveries begin. */
  disturb(): void {
    this.#faulty = this.choices.faults !== 'none';
    this.#restless = this.choices.changesBetweenPages !== 'none';
    this.listing.lags = true;
    this.callbacks.disturbed = true;
    const narrows =
      this.choices.faults === 'role narrows' || (this.choices.faults === 'all' && this.choices.seed % 2 === 0);
    this.listing.unreadable = narrows ? ({ id }) => id % 3 === 0 : () => false;
  }

  /** Whatever can end has ended. */
  quiet(): void {
    this.#faulty = false;
    this.#restless = false;
    this.listing.lags = false;
    this.callbacks.disturbed = false;
    this.listing.unreadable = () => false;
  }

  /** People make some changes in the service's own pages. */
  live(changes: number): Change[] {
    return Array.from({ length: changes }, () => this.records.happen(this.#life));
  }

  /** Whether a request is never answered. */
  hangs(method: string, { pathname }: URL): boolean {
    const isRead =
      method === 'GET' && this.choices.read === 'yes' && pathname.endsWith(`/bill_vendors/${this.odd.brokenId}`);
    return isRead && this.choices.broken === 'hang';
  }

  /** The oracle: the record of a vendor as a read by id shows it, whether or not this service has such reads; undefined if there is none. */
  byId(id: number): Shown | undefined {
    const vendor = this.records.get(id);
    return vendor === undefined || this.#unknownById(vendor) ? undefined : this.rendering.whole(vendor);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://service');
    const method = request.method ?? 'GET';
    const text = await bodyOf(request);
    if (text === undefined) return;
    let answer: Answer;
    let fault: string | undefined;
    const authorization = this.#authorize(request, url.pathname);
    if (authorization !== undefined) answer = authorization;
    else {
      fault = url.pathname.startsWith('/auth/') ? undefined : this.#drawFault(method, url);
      const early = this.#faultBefore(fault);
      answer = early ?? this.#faultAfter(fault, await this.#answer(method, url, text, request), url);
      const read = /\/bill_vendors\/(\d+)$/.exec(url.pathname)?.[1];
      if (method === 'GET' && read && answer.status === 200 && !fault) this.records.movedUnread.delete(Number(read));
    }
    this.requests.push({
      method,
      path: `${url.pathname}${url.search}`,
      status: answer.status,
      ...(fault === undefined ? {} : { fault }),
    });
    this.#send(answer, request, response);
  }

  #send({ status, body, headers, ending }: Answer, request: IncomingMessage, response: ServerResponse): void {
    if (ending === 'hang') return;
    if (ending === 'reset') {
      request.socket.resetAndDestroy();
      return;
    }
    const html = typeof body === 'string';
    let content = body === undefined ? Buffer.alloc(0) : Buffer.from(html ? body : JSON.stringify(body));
    const zip = this.choices.compressed && /\bgzip\b/.test(String(request.headers['accept-encoding']));
    if (zip && content.length > 0) content = gzipSync(content);
    response.writeHead(status, {
      ...(body === undefined ? {} : { 'Content-Type': html ? 'text/html; charset=utf-8' : 'application/json' }),
      'Content-Length': content.length,
      'X-RateLimit-Limit': '600',
      'X-RateLimit-Remaining': '580',
      'Retry-After': '58',
      'X-Api-Version': '2026-06-01',
      Date: new Date(this.#now()).toUTCString(),
      ...(zip && content.length > 0 ? { 'Content-Encoding': 'gzip' } : {}),
      ...headers,
    });
    if (ending === 'cut')
      response.write(content.subarray(0, Math.floor(content.length / 2)), () => request.socket.destroy());
    else response.end(content);
  }

  async #answer(method: string, url: URL, text: string, request: IncomingMessage): Promise<Answer> {
    if (method === 'POST' && url.pathname === '/auth/oauth/token')
      return this.#refreshed(text, String(request.headers['content-type']));
    if (method === 'GET' && url.pathname === '/auth/api/v1/users/me') return this.#me();
    const body = parsed(text);
    const match = /^\/(accounting|events)\/account\/([^/]+)\/(.+?)(?:\/(\d+))?\/?$/.exec(url.pathname);
    if (match === null) return noRoute(404);
    const [, family, account, area, idText] = match;
    if (account !== this.account) return refused(this.choices, noAccess);
    const id = idText === undefined ? undefined : Number(idText);
    if (family === 'events') {
      return area === 'events/callbacks' ? this.callbacks.answer(method, id, body, url.searchParams) : noRoute(404);
    }
    if (area === 'systems/gateways') return this.#gateways(method);
    if (area !== 'bill_vendors/bill_vendors') return noRoute(404);
    if (id === undefined) {
      if (method === 'GET') return this.#list(url.searchParams);
      return method === 'POST' ? this.#create(body) : noRoute(405);
    }
    if (method === 'GET') return this.#read(id);
    return method === 'PUT' ? this.#edit(id, body) : noRoute(405);
  }

  #list(query: URLSearchParams): Answer {
    if (this.#restless) {
      const share = this.choices.changesBetweenPages === 'many' ? 0.3 : 0.08;
      while (this.#life.happens(share)) this.live(1);
    }
    return this.listing.answer(query);
  }

  #read(id: number): Answer {
    const { choices } = this;
    if (choices.read !== 'yes') return noRoute(choices.read === '404' ? 404 : 405);
    const vendor = this.records.get(id);
    if (vendor === undefined || this.#unknownById(vendor)) return this.#unknown();
    if (this.listing.unreadable(vendor)) return refused(choices, noAccess);
    const shown = this.rendering.answered(vendor, 'id');
    if (id !== this.odd.brokenId) return ok({ bill_vendor: shown });
    switch (choices.broken) {
      case '410':
        return refused({ ...choices, errors: 'accounting' }, { ...unknownVendor, status: 410 });
      case '400':
        return refused(choices, { status: 400, errno: 1004, message: 'Invalid vendor.' });
      case '500':
        return { status: 500, body: page('Internal Server Error') };
      case 'html':
        return { status: 200, body: page('Sign in') };
      case 'cut':
        return {
          status: 200,
          body: JSON.stringify({ response: { result: { bill_vendor: shown } } }).slice(0, 200),
          headers: { 'Content-Type': 'application/json' },
        };
      case 'another': {
        const other = this.records.all().find((candidate) => candidate.id !== id);
        return other === undefined ? ok({}) : ok({ bill_vendor: this.rendering.answered(other, 'id') });
      }
      case 'empty':
        return ok({});
      case 'hang':
        return { status: 200, body: undefined, ending: 'hang' };
      case 'none':
        return ok({ bill_vendor: shown });
    }
  }

  #unknownById(vendor: Vendor): boolean {
    return vendor.visState === 1 && this.choices.deletedById === 'unknown';
  }

  #unknown(): Answer {
    if (this.choices.unknownId === 'plain 404') return noRoute(404);
    return refused(this.choices, { ...unknownVendor, status: Number(this.choices.unknownId) });
  }

  #create(body: unknown): Answer {
    const fields = vendorFields(body);
    const missing = ['vendor_name', 'language'].find(
      (field) => typeof fields[field] !== 'string' || fields[field] === '',
    );
    if (missing !== undefined) return refused(this.choices, { ...required, field: missing });
    const vendor = this.records.create(this.#tidied(textsOf(fields)), fields['is_1099'] === true);
    return ok({ bill_vendor: this.rendering.answered(vendor, 'id') });
  }

  #edit(id: number, body: unknown): Answer {
    const fields = vendorFields(body);
    const vendor = this.records.get(id);
    if (vendor === undefined) return this.#unknown();
    const state = fields['vis_state'];
    if (state !== undefined) {
      const visState = ([0, 1, 2] as const).find((known) => state === known || state === String(known));
      if (visState === undefined)
        return refused(this.choices, { status: 422, errno: 1004, message: 'Invalid vis_state.' });
      // Every other key of such a body is dropped without a word.
      return ok({
        bill_vendor: this.rendering.answered(this.records.edit(id, { visState }), 'id'),
      });
    }
    const is1099 = typeof fields['is_1099'] === 'boolean' ? { is1099: fields['is_1099'] } : {};
    const edited = this.records.edit(id, { texts: this.#tidied(textsOf(fields)), ...is1099 });
    return ok({ bill_vendor: this.rendering.answered(edited, 'id') });
  }

  #tidied(texts: Vendor['texts']): Vendor['texts'] {
    const name = texts.vendor_name;
    if (name === undefined) return texts;
    switch (this.choices.tidies) {
      case 'nothing':
        return texts;
      case 'blanks':
        return { ...texts, vendor_name: name.trim().replaceAll(/\s+/g, ' ') };
      case 'case':
        return { ...texts, vendor_name: name.toUpperCase() };
      case 'entities':
        return { ...texts, vendor_name: name.replaceAll('&', '&amp;').replaceAll('<', '&lt;') };
      case 'length':
        return { ...texts, vendor_name: name.slice(0, 20) };
    }
  }

  #gateways(method: string): Answer {
    const { choices } = this;
    if (choices.gateways === 'no scope') return refused(choices, noAccess);
    if (choices.gateways === 'absent') return noRoute(404);
    if (choices.gateways === 'html') return { status: 200, body: page('Payments') };
    if (method === 'DELETE') return { status: 200, body: { response: {} } };
    if (method !== 'GET') return noRoute(405);
    const gateways = [
      { sgid: 30, connectionid: '3d7c', gateway_name: 'own', id: 30 },
      { sgid: 26, connectionid: '91aa', gateway_name: 'cards', id: 26 },
    ];
    return ok({ gateways, page: 1, pages: 1, per_page: 15, total: gateways.length });
  }

  /** An answer where the request may not be made; undefined where it may. */
  #authorize(request: IncomingMessage, path: string): Answer | undefined {
    if (path === '/auth/oauth/token') return undefined;
    const limit = this.choices.tokenLives === 'long' ? Infinity : 40;
    if (request.headers.authorization === `Bearer ${this.accessToken}` && this.#tokenUses++ < limit) return undefined;
    return {
      status: 401,
      body: { error: 'unauthenticated', error_description: 'This action requires authentication to continue.' },
    };
  }

  /** A refresh token works once. */
  #refreshed(text: string, type: string): Answer {
    const given = type.includes('json')
      ? (parsed(text) as Record<string, unknown>)
      : Object.fromEntries(new URLSearchParams(text));
    if (
      given['client_id'] !== this.client.id ||
      given['client_secret'] !== this.client.secret ||
      given['grant_type'] !== 'refresh_token'
    ) {
      return { status: 401, body: { error: 'invalid_client' } };
    }
    if (given['refresh_token'] !== this.refreshToken) {
      return {
        status: 400,
        body: {
          error: 'invalid_grant',
          error_description: 'The provided authorization grant is invalid, expired or revoked.',
        },
      };
    }
    this.#tokens++;
    this.#tokenUses = 0;
    this.accessToken = `access-token-${this.#tokens}`;
    this.refreshToken = `refresh-token-${this.#tokens}`;
    return {
      status: 200,
      body: {
        access_token: this.accessToken,
        refresh_token: this.refreshToken,
        token_type: 'Bearer',
        expires_in: 43_200,
        created_at: Math.floor(this.#now() / 1000),
        scope: 'user:profile:read user:bill_vendors:read user:bill_vendors:write user:online_payments:read',
      },
    };
  }

  #me(): Answer {
    const business = { id: 77, name: 'Second', account_id: this.account };
    return ok({
      id: 5,
      business_memberships: [{ id: 9, role: 'owner', business }],
      roles: [{ id: 3, role: 'admin', accountid: this.account }],
    });
  }

  #drawFault(method: string, url: URL): string | undefined {
    if (!this.#faulty || !this.#faults.happens(faultShare)) return undefined;
    const { faults } = this.choices;
    const kinds = ['500', '429', '503', 'reset', 'cut', 'html', 'answer lost', 'empty page', 'errors in 200'];
    const kind = faults === 'all' ? this.#faults.of(kinds) : faults;
    if (kind === 'empty page') return method === 'GET' && url.pathname.endsWith('/bill_vendors') ? kind : undefined;
    return kind === 'role narrows' ? undefined : kind;
  }

  #faultBefore(fault = 'none'): Answer | undefined {
    switch (fault) {
      case '500':
      case '503':
        return { status: Number(fault), body: page('Error'), headers: { 'Retry-After': '0' } };
      case '429':
        return { status: 429, body: { message: 'Too many requests.' }, headers: { 'Retry-After': '0' } };
      case 'html':
        return { status: 200, body: page('Maintenance') };
      case 'errors in 200':
        return refused({ ...this.choices, errors: 'in 200' }, noAccess);
      case 'reset':
        return { status: 0, body: undefined, ending: 'reset' };
      default:
        return undefined;
    }
  }

  /** What was done is done; the answer to it goes wrong. */
  #faultAfter(fault: string | undefined, answer: Answer, url: URL): Answer {
    if (fault === 'cut') return { ...answer, ending: 'cut' };
    if (fault === 'answer lost') return { ...answer, ending: 'reset' };
    if (fault !== 'empty page') return answer;
    return ok({
      bill_vendors: [],
      page: Number(url.searchParams.get('page') ?? 1),
      pages: 0,
      per_page: this.choices.ownSize,
      total: 0,
    });
  }
}

const required: Refusal = { status: 422, errno: 1001, message: 'This field is required.' };

/** Undefined for a body that is not taken, or that did not come whole. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of request) {
      length += (chunk as Buffer).length;
      if (length > maxBody) return undefined;
      chunks.push(chunk as Buffer);
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function vendorFields(body: unknown): Record<string, unknown> {
  const { bill_vendor: fields } = (body ?? {}) as { bill_vendor?: Record<string, unknown> };
  return fields ?? {};
}

/** Unknown keys of a body are ignored, and so are values that are no text. */
function textsOf(fields: Record<string, unknown>): Vendor['texts'] {
  const texts: Partial<Record<TextField, string>> = {};
  for (const field of textFields) if (typeof fields[field] === 'string') texts[field] = fields[field];
  return texts;
}
