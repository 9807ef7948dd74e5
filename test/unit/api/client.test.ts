import { describe, expect, it } from 'vitest';
import type { MirrorError } from '../../../src/domain/errors.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { scriptedService } from '../../support/network/scripted-service.ts';
import { fixture, html, json, one, page } from '../../support/network/service-answers.ts';
import { defaultSettings } from '../../support/settings.ts';

const vendorsPath = '/accounting/account/6BApk/bill_vendors/bill_vendors';
const callbacksPath = '/events/account/6BApk/events/callbacks';

describe('the vendors of the client', () => {
  it('requests pages with the parameter names of the settings, and filters by state', async () => {
    const { client, sent } = scriptedService([page([1])], {
      paging: { ...defaultSettings.service.paging, pageParam: 'p', perPageParam: 'size', perPage: 50 },
    });
    await client.vendors.page(1, { visState: 2 });
    expect(sent[0]?.url.pathname).toBe(vendorsPath);
    expect(Object.fromEntries(sent[0]!.url.searchParams)).toEqual({ p: '1', size: '50', 'search[vis_state]': '2' });
  });

  it('walks as many pages as the latest answer reports, and never requests a page past them', async () => {
    const { client, sent } = scriptedService([
      page([1, 2], { pages: 5, total: 9 }),
      page([3, 4], { page: 2, pages: 3, total: 6 }),
      page([5, 6], { page: 3, pages: 3, total: 6 }),
    ]);
    const ids: number[] = [];
    for await (const { rows } of client.vendors.pages()) ids.push(...rows.map(({ vendorid }) => vendorid));
    expect(ids).toEqual([1, 2, 3, 4, 5, 6]);
    expect(sent.map(({ url }) => url.searchParams.get('page'))).toEqual(['1', '2', '3']);
  });

  it('requests an empty list of no pages once', async () => {
    const { client, sent } = scriptedService([page([], { pages: 0, total: 0 })]);
    for await (const { total } of client.vendors.pages()) expect(total).toBe(0);
    expect(sent).toHaveLength(1);
  });

  it('A25 advises to check the address where another program answers, not where an answer was cut off or the first page came from there', async () => {
    const retryLimits = { attempts: 1, firstWait: 0, maxWait: 0, totalWait: 0 };
    const cut = (): Response => new Response('{"resp', { headers: { 'content-encoding': 'gzip' } });
    const elsewhere = (): Response => html();
    const empty = (): Response => new Response(null, { status: 204 });
    const remedyOf = (answer: () => Response, number = 1): Promise<unknown> =>
      scriptedService([answer], { retryLimits })
        .client.vendors.page(number)
        .catch((error: unknown) => (error as MirrorError).hint);
    expect(await remedyOf(elsewhere)).toMatch(/^Check the path in service.baseUrl/);
    expect(await remedyOf(cut)).toMatch(/^It was cut off on its way/);
    const told = (text: string) => (): Response => json(text);
    const list = (members: string): string => `{"response":{"result":{"bill_vendors":[]${members}}}}`;
    for (const text of ['{"response":{"result":{"bill_ven', list(',"page":1,"pages":1,"total":0').slice(0, -3)])
      expect(await remedyOf(told(text)), text).toMatch(/^It was cut off on its way/);
    for (const text of [list(''), list(',"page":1,"pages":"few","total":0'), list(',"page":1,"pages":1,"total":-3')])
      expect(await remedyOf(told(text)), text).toMatch(/^Report it to the service: its lists/);
    for (const depth of [40, 3_000])
      expect(await remedyOf(told(list(`,"more":${'['.repeat(depth)}${']'.repeat(depth)}`)))).toMatch(
        /^Report it to the/,
      );
    for (const answer of [elsewhere, empty])
      expect(await remedyOf(answer, 2)).toMatch(/^The answer did not come from the service/);
    const accepted = (): Response => new Response('', { status: 202 });
    const latin = (): Response =>
      new Response(Buffer.from(list(',"name":"é"'), 'latin1'), { headers: { 'content-type': 'application/json' } });
    for (const answer of [empty, accepted, latin])
      expect(await remedyOf(answer)).toMatch(/^The answer did not come from the service/);
  });

  it('reads a vendor by id, and refuses an answer about another vendor', async () => {
    const retryLimits = { attempts: 1, firstWait: 0, maxWait: 0, totalWait: 0 };
    const { client, sent } = scriptedService([one(5), one(6)], { retryLimits });
    expect((await client.vendors.read(5)).row.vendor().vendor_name).toBe('Vendor 5');
    expect(sent[0]?.url.pathname).toBe(`${vendorsPath}/5`);
    await expect(client.vendors.read(5)).rejects.toThrow('Asked for vendor 5, the service answered with vendor 6.');
  });

  it('reads a vendor by id from a list of it alone, and names the setting where the list has others', async () => {
    const retryLimits = { attempts: 1, firstWait: 0, maxWait: 0, totalWait: 0 };
    const listOf = (...ids: number[]): Response =>
      Response.json({ response: { result: { bill_vendors: ids.map((vendorid) => ({ vendorid })) } } });
    const answers = [() => listOf(5), () => listOf(5, 6), () => listOf()];
    const { client } = scriptedService(answers, { retryLimits });
    expect((await client.vendors.read(5)).row.vendorid).toBe(5);
    for (const count of [2, 0])
      await expect(client.vendors.read(5)).rejects.toMatchObject({
        code: 'answer_unreadable',
        message: `The answer is a list of ${count} vendors instead of one.`,
        remedy: expect.stringContaining('set service.readOne to sweep') as string,
      });
  });

  it('deletes, archives and restores by sending the state alone', async () => {
    const { client, sent } = scriptedService([one(7)]);
    await client.vendors.edit(7, { vis_state: 1 });
    await client.vendors.edit(7, { vis_state: 2 });
    await client.vendors.edit(7, { vis_state: 0 });
    expect(sent[0]?.body).toEqual(JSON.parse(fixture('vendor-delete-request')));
    expect(sent.map(({ method, body }) => [method, body])).toEqual(
      [1, 2, 0].map((vis_state) => ['PUT', { bill_vendor: { vis_state } }]),
    );
  });

  it.each([200, 201, 202, 203, 206, 207, 226, 299])('L18 takes status %i of a write for a success', async (status) => {
    const record = { response: { result: { bill_vendor: { vendorid: 7, vendor_name: 'Acme' } } } };
    const { client } = scriptedService([Response.json(record, { status }), Response.json(record, { status })]);
    const fields = { vendor_name: 'Acme', language: 'en', currency_code: 'EUR' };
    expect((await client.vendors.create(fields)).row.vendorid).toBe(7);
    expect((await client.vendors.edit(7, { note: 'x' })).row.vendorid).toBe(7);
  });

  it.each([200, 202, 204, 205])(
    'L18 leaves open whether a creation was carried out that is answered %i and nothing',
    async (status) => {
      const { client, sent } = scriptedService([new Response(null, { status })]);
      const fields = { vendor_name: 'Acme', language: 'en', currency_code: 'EUR' };
      await expect(client.vendors.create(fields)).rejects.toMatchObject({ mayBeDone: true });
      expect(sent).toHaveLength(1);
    },
  );

  it('refuses an edit of nothing, and a state together with other fields, before anything is sent', async () => {
    const { client, sent } = scriptedService([one(7)]);
    await expect(client.vendors.edit(7, {})).rejects.toMatchObject({ code: 'usage' });
    await expect(client.vendors.edit(7, { vis_state: 1, note: 'x' })).rejects.toMatchObject({ code: 'usage' });
    expect(sent).toEqual([]);
  });
});

describe('the gateways of the client', () => {
  it('lists all of them and removes one', async () => {
    const { client, sent } = scriptedService([
      json(fixture('gateways-list')),
      json(fixture('gateway-delete-response')),
    ]);
    const gateways = await client.gateways.list();
    expect(gateways.map(({ sgid }) => sgid)).toEqual([1598106, 1221100]);
    await client.gateways.remove(1221100);
    expect(sent.map(({ method, url }) => `${method} ${url.pathname}`)).toEqual([
      'GET /accounting/account/6BApk/systems/gateways',
      'DELETE /accounting/account/6BApk/systems/gateways/1221100',
    ]);
  });

  it('share one rate limit, callbacks too, which also have their own', async () => {
    const rate = { requests: 1, per: 5_000 };
    const { client, sent } = scriptedService(
      [one(5), json(fixture('gateways-list')), json(fixture('callbacks-list'))],
      {
        rateLimit: { all: rate, post: rate, callbacks: rate },
      },
    );
    await client.vendors.read(5);
    await client.gateways.list();
    await client.callbacks.list();
    expect(sent.map(({ at }) => at)).toEqual([0, 5_000, 10_000]);
  });
});

describe('the callbacks of the client', () => {
  const callback = (callbackid: number, event: string, verified = true) => ({
    callbackid,
    event,
    uri: `https://mirror.example/${callbackid}`,
    verified,
  });
  const listing = (callbacks: unknown[], number: number, pages: number) =>
    json({ response: { result: { callbacks, page: number, pages, per_page: 2, total: 3 } } });

  it('registers, verifies, resends and deletes as the reference says', async () => {
    const { client, sent } = scriptedService([
      json(fixture('callback-register-response')),
      json({ response: { result: { callback: callback(2001, 'bill_vendor') } } }),
      json({ response: { result: { callback: callback(2001, 'bill_vendor', false) } } }),
      new Response(null, { status: 204 }),
    ]);
    expect((await client.callbacks.register('bill_vendor', 'https://mirror.example/a')).callbackid).toBe(2001);
    expect((await client.callbacks.verify(2001, new Secret('code'))).verified).toBe(true);
    expect((await client.callbacks.resend(2001)).verified).toBe(false);
    await client.callbacks.remove(2001);
    expect(sent.map(({ method, url, body }) => [method, url.pathname, body])).toEqual([
      ['POST', callbacksPath, { callback: { event: 'bill_vendor', uri: 'https://mirror.example/a' } }],
      ['PUT', `${callbacksPath}/2001`, { callback: { verifier: 'code' } }],
      ['PUT', `${callbacksPath}/2001`, { callback: { resend: true } }],
      ['DELETE', `${callbacksPath}/2001`, undefined],
    ]);
  });

  it('lists every page, passes filters on, and applies them if the service does not', async () => {
    const all = [callback(1, 'bill_vendor.create'), callback(2, 'bill_vendor', false), callback(3, 'invoice.create')];
    const answers = [listing(all.slice(0, 2), 1, 2), listing(all.slice(2), 2, 2)];
    const { client, sent } = scriptedService([...answers, ...answers, ...answers]);
    const ids = async (filter: Parameters<typeof client.callbacks.list>[0]) =>
      (await client.callbacks.list(filter)).map(({ callbackid }) => callbackid);
    expect(await ids({})).toEqual([1, 2, 3]);
    expect(await ids({ event: 'bill_vendor', verified: true })).toEqual([1]);
    expect(Object.fromEntries(sent[2]!.url.searchParams)).toMatchObject({
      'search[event]': 'bill_vendor',
      'search[verified]': 'true',
    });
    expect(await ids({ uri: 'https://mirror.example/3' })).toEqual([3]);
  });

  it('A4 reports that the service answers every page with the first', async () => {
    const answered = (...pages: [callbackid: number, page: number][]) =>
      scriptedService(
        pages.map(([id, number]) => listing([callback(id, 'bill_vendor')], number, 3)),
      ).client.callbacks.list();
    const ignored = { code: 'paging_ignored' };
    await expect(answered([1, 1], [1, 2], [1, 3])).rejects.toMatchObject(ignored);
    await expect(answered([1, 1], [2, 1], [3, 3])).rejects.toMatchObject(ignored);
    await expect(answered([1, 1], [2, 2], [3, 3])).resolves.toHaveLength(3);
  });

  it('P8 refuses a list without end', async () => {
    let number = 0;
    const endless = () => listing([callback((number += 1), 'bill_vendor')], number, 1e9);
    const rate = { requests: 1_000, per: 1_000 };
    const { client } = scriptedService([endless], { rateLimit: { all: rate, post: rate, callbacks: rate } });
    await expect(client.callbacks.list()).rejects.toMatchObject({ code: 'answer_too_large' });
    expect(number).toBe(100);
  });
});
