import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { account } from '../../support/names.ts';
import { testbed } from '../../support/testbed.ts';
import {
  callbacksPath,
  gatewaysPath,
  vendorsPath,
  type Body,
  type ServiceAnswer,
} from '../../support/testbed/service.ts';

const fixture = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../fixtures/${name}`, import.meta.url), 'utf8')) as Body &
    ServiceAnswer['headers'] & { bill_vendor: object };

/** Key names and value types, in order. */
function shape(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shape(value[0])];
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  return Object.entries(value).map(([key, inner]) => [key, shape(inner)]);
}

/** Texts that may be null either way do not make another shape. */
const loosely = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(shape(value)).replaceAll('"null"', '"text"').replaceAll('"string"', '"text"'));

describe('answers have the captured shape', () => {
  it('of a created vendor, to the byte', async () => {
    const { ask } = await testbed({ level: 'service' });
    const told = await ask('POST', vendorsPath, fixture('vendor-create-request.json'));
    const captured = fixture('vendor-create-response.json');
    const times = { created_at: '2026-01-15 12:00:00', updated_at: '2026-01-15 12:00:00' };
    const made = told.json.response.result.bill_vendor;
    Object.assign(captured.response.result.bill_vendor, times, { vendorid: made.vendorid });
    expect(told.status).toBe(200);
    expect(told.text).toBe(JSON.stringify(captured));
  });

  it('of an edited vendor with a balance, and of a deleted one', async () => {
    const { ask, sandbox } = await testbed({ level: 'service' });
    const made = await ask('POST', vendorsPath, fixture('vendor-create-request.json'));
    const id = made.json.response.result.bill_vendor.vendorid;
    sandbox.vendors(account).setBalance(id, 'outstanding', [{ amount: '450.00', code: 'USD' }]);
    const edited = await ask('PUT', `${vendorsPath}/${id}`, { bill_vendor: { city: 'San Francisco' } });
    expect(loosely(edited.json)).toEqual(loosely(fixture('vendor-edit-response.json')));
    sandbox.vendors(account).setBalance(id, 'outstanding', []);
    const gone = await ask('PUT', `${vendorsPath}/${id}`, fixture('vendor-delete-request.json'));
    expect(loosely(gone.json)).toEqual(loosely(fixture('vendor-delete-response.json')));
    expect(gone.json.response.result.bill_vendor.vis_state).toBe(1);
  });

  it('of the vendor list, tax defaults and balances included', async () => {
    const { ask, get, sandbox } = await testbed({ level: 'service' });
    const { bill_vendor } = fixture('vendor-create-request.json');
    const taxes = [{ system_taxid: 36859, enabled: true, tax_authorityid: null }, { system_taxid: 37696 }];
    const made = await ask('POST', vendorsPath, { bill_vendor: { ...bill_vendor, tax_defaults: taxes } });
    const id = made.json.response.result.bill_vendor.vendorid;
    sandbox.vendors(account).setBalance(id, 'outstanding', [{ amount: '5.00', code: 'CAD' }]);
    const list = await get(vendorsPath);
    expect(loosely(list.json)).toEqual(loosely(fixture('vendors-list.json')));
    const [first, second] = list.json.response.result.bill_vendors[0]!.tax_defaults;
    expect(first).toMatchObject({ amount: '13.56', name: 'GST', taxid: 1, vendorid: id });
    expect(second).toMatchObject({ amount: '13', name: 'HST', taxid: 3 });
  });

  it('of gateways and their removal', async () => {
    const { get, ask } = await testbed({ level: 'service' });
    const list = await get(gatewaysPath);
    expect(shape(list.json)).toEqual(shape(fixture('gateways-list.json')));
    const { sgid } = list.json.response.result.gateways[0]!;
    const removed = await ask('DELETE', `${gatewaysPath}/${sgid}`);
    expect(removed.json).toEqual(fixture('gateway-delete-response.json'));
    expect((await get(gatewaysPath)).json.response.result.total).toBe(1);
  });

  it('of callbacks', async () => {
    const { get, ask } = await testbed({ level: 'service', world: ['callbackKeys=callbackid'] });
    expect((await get(callbacksPath)).json).toEqual(fixture('callbacks-list-empty.json'));
    const registered = await ask('POST', callbacksPath, {
      callback: { event: 'invoice.create', uri: 'https://example.test/webhooks/ready' },
    });
    expect(registered.text).toBe(JSON.stringify(fixture('callback-register-response.json')));
    expect(shape((await get(callbacksPath)).json)).toEqual(shape(fixture('callbacks-list.json')));
  });

  it('of errors', async () => {
    const { get, ask, sandbox } = await testbed({ level: 'service' });
    const unknownVendor = await get(`${vendorsPath}/12345`);
    expect(unknownVendor.status).toBe(404);
    expect(shape(unknownVendor.json)).toEqual(shape(fixture('error-accounting-not-found.json')));
    expect((await get(`${callbacksPath}/9`)).status).toBe(404);
    const unknownCallback = await ask('DELETE', `${callbacksPath}/9`);
    expect([unknownCallback.status, unknownCallback.json]).toEqual([404, fixture('error-events-not-found.json')]);
    const invalid = await ask('POST', callbacksPath, { callback: { event: 'nonsense', uri: '/relative' } });
    expect([invalid.status, invalid.json]).toEqual([422, fixture('error-events-validation.json')]);
    sandbox.access.revoke('a-token');
    const noVendors = await get(vendorsPath);
    expect([noVendors.status, noVendors.json]).toEqual([401, fixture('error-unauthenticated.json')]);
    const noEvents = await get(callbacksPath);
    expect([noEvents.status, noEvents.json]).toEqual([401, fixture('error-events-unauthenticated.json')]);
  });

  it('of errors in the other forms', async () => {
    const rpc = await (await testbed({ level: 'service', world: ['errorForm=rpc'] })).get(`${vendorsPath}/12345`);
    expect(shape(rpc.json)).toEqual(shape(fixture('error-accounting-not-found-rpc-form.json')));
    const { get, sandbox } = await testbed({ level: 'service' });
    sandbox.faults.next({ kind: 'errors_in_200' });
    const told = await get(vendorsPath);
    expect([told.status, told.json]).toEqual([200, fixture('error-accounting-no-access-http200.json')]);
  });

  it('of the headers', async () => {
    const rateLimits = { all: 600, callbacks: 20, windowSeconds: 60 };
    const { ask } = await testbed({ level: 'service', cors: true, rateLimits });
    const told = await ask('POST', vendorsPath, fixture('vendor-create-request.json'), { 'accept-encoding': 'gzip' });
    const captured = new Map(
      Object.entries<string>(fixture('vendor-response-headers.json')).map(([name, value]) => [
        name.toLowerCase(),
        value,
      ]),
    );
    for (const name of ['_capture', 'transfer-encoding']) captured.delete(name);
    expect(Object.keys(told.headers).sort()).toEqual([...captured.keys()].sort());
    for (const name of ['date', 'x-ratelimit-reset', 'retry-after']) captured.delete(name);
    expect(told.headers).toMatchObject(Object.fromEntries(captured));
    expect(told.headers).toMatchObject({
      date: 'Thu, 15 Jan 2026 12:00:00 GMT',
      'x-ratelimit-reset': String(Date.UTC(2026, 0, 15, 12, 1) / 1_000),
      'retry-after': '60',
    });
  });
});
