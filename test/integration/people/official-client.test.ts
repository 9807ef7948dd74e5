/**
 * The first hour of the service's official client for Node.js, beside the sandbox: what it asks works as its documentation says, except for
 * its own faults, which are named here and hold whoever answers.
 */
import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import type { World } from '../../../src/sandbox/core/worlds.ts';
import { temporaryFolder } from '../../support/mirror-file.ts';
import { isMissing } from '../../support/needed.ts';
import { listen } from '../../support/network/listen.ts';
import { install, missingPackages } from '../../support/registry.ts';
import { testbed } from '../../support/testbed.ts';

const officialClient = '@freshbooks/api@4.1.0';

/** A query of the client: page, search. */
interface Query {
  page(page: number): Query;
  perPage(rows: number): Query;
  equals(key: string, value: string | number | boolean): Query;
}

interface Answered<Data> {
  readonly ok: boolean;
  readonly data: Data;
}

interface Vendor {
  readonly vendorId?: number;
  readonly vendorName?: string;
  readonly language?: string;
  readonly city?: string;
  readonly visState?: number;
  readonly updatedAt?: Date;
}

interface Callback {
  readonly callbackId?: number;
  readonly event?: string;
  readonly uri?: string;
  readonly verified?: boolean;
  readonly updatedAt?: Date;
}

interface Numbers {
  readonly page: number;
  readonly pages: number;
  readonly size: number;
  readonly total: number;
}

interface Client {
  readonly accessToken: string;
  readonly users: {
    me(): Promise<Answered<{ businessMemberships: { business: { accountId: string } }[] }>>;
  };
  readonly billVendors: {
    list(
      account: string,
      queries?: readonly Query[],
    ): Promise<Answered<{ bill_vendors: readonly Vendor[]; pages: Numbers }>>;
    create(vendor: Vendor, account: string): Promise<Answered<Vendor>>;
    single(account: string, id: number): Promise<Answered<Vendor>>;
    update(vendor: Vendor, account: string, id: number): Promise<Answered<Vendor>>;
    delete(account: string, id: number): Promise<Answered<Vendor>>;
  };
  readonly callbacks: {
    create(callback: Callback, account: string): Promise<Answered<Callback>>;
    single(account: string, id: number): Promise<Answered<Callback>>;
    resendVerification(account: string, id: number): Promise<Answered<Callback>>;
    verify(account: string, id: number, verifier: string): Promise<Answered<Callback>>;
    list(
      account: string,
      queries?: readonly Query[],
    ): Promise<Answered<{ callbacks: readonly Callback[]; pages: Numbers }>>;
    delete(account: string, id: number): Promise<Answered<unknown>>;
  };
  getAuthRequestUrl(scopes?: readonly string[]): string;
  getAccessToken(code: string): Promise<{ accessToken: string; accessTokenExpiresAt: Date }>;
  refreshAccessToken(): Promise<{ accessToken: string; accessTokenExpiresAt: Date }>;
}

interface Package {
  readonly Client: new (id: string, options: object) => Client;
}

interface Builders {
  readonly SearchQueryBuilder: new () => Query;
  readonly PaginationQueryBuilder: new () => Query;
}

const worlds: [title: string, world: Partial<World>][] = [
  ['as it is by default', {}],
  [
    'that behaves otherwise where the reference is silent',
    {
      ...{ createStatus: '201', deletedCallback: '204', callbackTime: 'plain', callbackKeys: 'callbackid' },
      ...{ handshakeWhen: 'before', order: 'updated_newest', visState: 'integer', serviceTime: 'local' },
    },
  ],
];

/** The client, installed from the registry, and the sandbox to which it speaks. */
async function connected(world: Partial<World>) {
  const folder = temporaryFolder();
  install(folder, officialClient);
  const load = createRequire(join(folder, 'index.js'));
  const { Client } = load('@freshbooks/api') as Package;
  const builders = load('@freshbooks/api/dist/models/builders') as Builders;
  const application = { id: 'mine', secret: 'hush' };
  const sandbox = await testbed({
    level: 'sandbox',
    vendors: 40,
    client: application,
    fetch: undefined,
    world: { records: 'plain', ...world },
  });
  vi.stubEnv('FRESHBOOKS_AUTH_URL', `${sandbox.baseUrl}/auth`);
  const clientOf = (more: object): Client =>
    new Client(application.id, {
      ...{ apiUrl: sandbox.baseUrl, clientSecret: application.secret, redirectUri: 'https://app.example/back' },
      ...more,
    });
  return { ...builders, ...sandbox, clientOf };
}

/** Allows an application what it asks for, as a person does on the page of the service. @returns the code. */
async function consent(asked: URL): Promise<string> {
  expect((await fetch(asked)).status).toBe(200);
  const body = new URLSearchParams(asked.search);
  body.set('decision', 'allow');
  const { headers } = await fetch(`${asked.origin}${asked.pathname}`, { method: 'POST', body, redirect: 'manual' });
  return new URL(headers.get('location') ?? '').searchParams.get('code') ?? '';
}

describe.skipIf(isMissing(missingPackages(officialClient)))('L50 the official client', () => {
  afterEach(() => vi.unstubAllEnvs());

  it.each(worlds)('does all of its first hour on a sandbox %s', async (_, world) => {
    const { clientOf, SearchQueryBuilder, PaginationQueryBuilder } = await connected(world);
    const client = clientOf({ retryOptions: { retries: 0 } });
    const first = await client.getAccessToken(await consent(new URL(client.getAuthRequestUrl())));

    const { data: me } = await client.users.me();
    const account = me.businessMemberships[0]!.business.accountId;
    expect(account).toBe('6BApk');

    const page = (nth: number): Query => new PaginationQueryBuilder().page(nth).perPage(15);
    const pages = [];
    for (const nth of [1, 2, 3]) pages.push((await client.billVendors.list(account, [page(nth)])).data);
    expect(pages.map(({ pages: numbers }) => [numbers.page, numbers.size])).toEqual([1, 2, 3].map((nth) => [nth, 15]));
    const ids = pages.flatMap(({ bill_vendors }) => bill_vendors.map(({ vendorId }) => vendorId));
    expect(new Set(ids).size).toBe(pages[0]!.pages.total);

    const made = await client.billVendors.create({ vendorName: 'Huber & Söhne', language: 'en' }, account);
    const { vendorId: id = 0 } = made.data;
    await client.billVendors.update({ city: 'Graz' }, account, id);
    const read = await client.billVendors.single(account, id);
    expect(read.data).toMatchObject({ vendorName: 'Huber & Söhne', city: 'Graz', visState: 0 });
    expect((await client.billVendors.delete(account, id)).data.visState).toBe(1);
    const isDeleted = new SearchQueryBuilder().equals('vis_state', 1);
    const { bill_vendors: deleted } = (await client.billVendors.list(account, [isDeleted])).data;
    expect(deleted.map(({ vendorId }) => vendorId)).toContain(id);
    expect(deleted.every(({ visState }) => visState === 1)).toBe(true);

    const received: URLSearchParams[] = [];
    const codes = new EventEmitter();
    const hook = createServer((request, response) => {
      void text(request).then((body) => {
        received.push(new URLSearchParams(body));
        response.end();
        codes.emit(`code ${received.length}`);
      });
    });
    const resent = once(codes, 'code 2');
    const uri = `http://127.0.0.1:${await listen(hook)}/hook`;
    const { callbackId = 0 } = (await client.callbacks.create({ event: 'bill_vendor', uri }, account)).data;
    await client.callbacks.resendVerification(account, callbackId);
    await resent;
    const verifier = received[1]!.get('verifier') ?? '';
    expect((await client.callbacks.verify(account, callbackId, verifier)).data.verified).toBe(true);
    const mine = await client.callbacks.list(account, [new SearchQueryBuilder().equals('event', 'bill_vendor')]);
    expect(mine.data).toMatchObject({ callbacks: [{ callbackId, uri, verified: true }], pages: { page: 1, total: 1 } });
    expect((await client.callbacks.single(account, callbackId)).data).toMatchObject({ callbackId, verified: true });
    expect((await client.callbacks.delete(account, callbackId)).ok).toBe(true);
    expect((await client.callbacks.list(account)).data.callbacks).toEqual([]);

    const second = await client.refreshAccessToken();
    expect(second.accessToken).not.toBe(first.accessToken);
    expect(second.accessTokenExpiresAt.getTime()).toBeGreaterThan(systemClock.now());
    expect((await client.users.me()).ok).toBe(true);
  });

  it('has faults of its own, whoever answers', async () => {
    const { clientOf, SearchQueryBuilder, token, sandbox } = await connected({});
    const client = clientOf({ accessToken: token, refreshToken: 'unknown', retryOptions: { retries: 0 } });

    // Times of vendors are read as New York's, and those of callbacks, which have another form, not at all.
    const vendor = sandbox.vendors('6BApk').all()[0]!;
    const { updatedAt } = (await client.billVendors.single('6BApk', Number(vendor['vendorid']))).data;
    const hoursLate = (updatedAt!.getTime() - Date.parse(`${String(vendor['updated_at'])}Z`)) / 3_600_000;
    expect([4, 5]).toContain(hoursLate);
    const uri = 'http://127.0.0.1:1/?a=1&b=2';
    await client.callbacks.create({ event: 'bill_vendor', uri }, '6BApk');
    const [callback] = (await client.callbacks.list('6BApk')).data.callbacks;
    expect(callback).toMatchObject({ uri });
    expect(callback!.updatedAt!.getTime()).toBeNaN();

    // What a search looks for is not encoded.
    const found = await client.callbacks.list('6BApk', [new SearchQueryBuilder().equals('uri', uri)]);
    expect(found.data.callbacks).toEqual([]);

    // Why no token is given is not told, nor why nobody answers: its own condition of repetition fails then.
    await expect(client.refreshAccessToken()).rejects.toMatchObject({ message: 'Bad Request', statusCode: '400' });
    const nobody = clientOf({ accessToken: token, apiUrl: 'http://127.0.0.1:1' });
    await expect(nobody.users.me()).rejects.toThrow(TypeError);
    expect(Object.keys(client).filter((name) => /gateway/i.test(name))).toEqual([]);
  });
});
