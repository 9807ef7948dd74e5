import { describe, expect, it } from 'vitest';
import { account } from '../../../support/names.ts';
import { testbed, type Testbed } from '../../../support/testbed.ts';
import { vendorsPath, type ServiceAnswer, type VendorRow } from '../../../support/testbed/service.ts';

const fields = { vendor_name: 'Northwind', language: 'en', currency_code: 'USD' };

async function create({ ask }: Testbed<'service'>, extra: object = {}): Promise<VendorRow> {
  return (await ask('POST', vendorsPath, { bill_vendor: { ...fields, ...extra } })).json.response.result.bill_vendor;
}

async function edit({ ask }: Testbed<'service'>, id: number, bill_vendor: object): Promise<VendorRow> {
  return (await ask('PUT', `${vendorsPath}/${id}`, { bill_vendor })).json.response.result.bill_vendor;
}

const errorOf = ({ json }: ServiceAnswer) => json.response.errors[0];

describe('what a list leaves out', () => {
  it.each([
    ['no', [undefined, 'Net 30', undefined]],
    ['yes', ['Net 30', 'Net 30', 'Net 30']],
  ] as const)('noteInList=%s: a read by id shows the note, whatever was listed before', async (noteInList, shown) => {
    const service = await testbed({ level: 'service', world: [`noteInList=${noteInList}`] });
    const { vendorid } = await create(service, { note: 'Net 30' });
    const listed = async (): Promise<unknown> => {
      const { bill_vendors } = (await service.ask('GET', `${vendorsPath}?per_page=100`)).json.response.result;
      return bill_vendors.find((row: VendorRow) => row.vendorid === vendorid)?.note;
    };
    const read = async (): Promise<unknown> =>
      (await service.ask('GET', `${vendorsPath}/${vendorid}`)).json.response.result.bill_vendor.note;
    expect([await listed(), await read(), await listed()]).toEqual(shown);
  });
});

describe('states of a vendor', () => {
  it('none → 0: create sets both times', async () => {
    expect(await create(await testbed({ level: 'service' }))).toMatchObject({
      vis_state: 0,
      created_at: '2026-01-15 12:00:00',
      updated_at: '2026-01-15 12:00:00',
    });
  });

  it('0 → 0: an edit changes only what is given, and updated_at', async () => {
    const service = await testbed({ level: 'service' });
    const made = await create(service, { city: 'Boise' });
    await service.clock.advance(61_000);
    expect(await edit(service, made.vendorid, { phone: '1' })).toEqual({
      ...made,
      phone: '1',
      updated_at: '2026-01-15 12:01:01',
    });
  });

  it('0 → 1 → 0 → 2 → 0: every change is possible, and drops the other keys of its body', async () => {
    const service = await testbed({ level: 'service' });
    const { vendorid } = await create(service);
    for (const vis_state of [1, 0, 2, 0])
      expect(await edit(service, vendorid, { vis_state, vendor_name: 'ignored' })).toMatchObject({
        vis_state,
        vendor_name: 'Northwind',
      });
  });
});

describe('what a body may hold', () => {
  it.each(['vendor_name', 'language'] as const)('a new vendor needs %s', async (key) => {
    const told = await (
      await testbed({ level: 'service' })
    ).ask('POST', vendorsPath, { bill_vendor: { ...fields, [key]: undefined } });
    expect([told.status, errorOf(told).errno, errorOf(told).field]).toEqual([422, 1001, key]);
  });

  it('world required: a name alone may do, or a currency be needed', async () => {
    const name = { bill_vendor: { vendor_name: 'A' } };
    expect(
      (await (await testbed({ level: 'service', world: ['required=name'] })).ask('POST', vendorsPath, name)).status,
    ).toBe(200);
    const without = { bill_vendor: { vendor_name: 'A', language: 'en' } };
    const told = await (
      await testbed({ level: 'service', world: ['required=name_language_currency'] })
    ).ask('POST', vendorsPath, without);
    expect(errorOf(told)).toMatchObject({ errno: 1001, field: 'currency_code' });
  });

  it('unknown keys are ignored', async () => {
    expect(
      await create(await testbed({ level: 'service' }), { shoe_size: 43, vendorid: 1, primary_contact: null }),
    ).not.toHaveProperty('shoe_size');
  });

  it.each([
    [{ vendor_name: 5 }, 1004, 'vendor_name'],
    [{ is_1099: 'yes' }, 1004, 'is_1099'],
    [{ vis_state: 3 }, 1004, 'vis_state'],
    [{ tax_defaults: 'none' }, 1004, 'tax_defaults'],
    [{ tax_defaults: [{ system_taxid: 1 }] }, 1004, 'system_taxid'],
    [{ note: 'x'.repeat(2_000) }, 1017, 'note'],
  ])('%j is refused', async (bill_vendor, errno, field) => {
    const service = await testbed({ level: 'service' });
    const { vendorid } = await create(service);
    const told = await service.ask('PUT', `${vendorsPath}/${vendorid}`, { bill_vendor });
    expect([told.status, errorOf(told).errno, errorOf(told).field]).toEqual([422, errno, field]);
  });

  it('no JSON, another media type, and no bill_vendor are refused', async () => {
    const { ask, sandbox } = await testbed({ level: 'service' });
    expect((await ask('POST', vendorsPath, { vendor: {} })).status).toBe(422);
    expect((await ask('POST', vendorsPath, {}, { 'content-type': 'text/plain' })).status).toBe(415);
    const headers = { authorization: 'Bearer a-token', 'content-type': 'application/json' };
    const broken = { method: 'POST', path: vendorsPath, query: new URLSearchParams(), headers, body: Buffer.from('{') };
    expect((await sandbox.handle(broken)).status).toBe(400);
  });

  it('a note is shown after it was set, and stays as null when it is cleared', async () => {
    const service = await testbed({ level: 'service' });
    const made = await create(service);
    expect(made).not.toHaveProperty('note');
    expect(await edit(service, made.vendorid, { note: 'Net 30' })).toHaveProperty('note', 'Net 30');
    expect(await edit(service, made.vendorid, { note: null })).toHaveProperty('note', null);
  });
});

describe('one vendor by id', () => {
  it('answers, a deleted one too, and 404 with errno 1012 for an unknown id', async () => {
    const service = await testbed({ level: 'service' });
    const made = await create(service);
    await edit(service, made.vendorid, { vis_state: 1 });
    const told = await service.get(`${vendorsPath}/${made.vendorid}`);
    expect(told.json.response.result.bill_vendor.vis_state).toBe(1);
    for (const id of ['1', 'abc', '99999999999999999999']) {
      const unknown = await service.get(`${vendorsPath}/${id}`);
      expect([unknown.status, errorOf(unknown).errno]).toEqual([404, 1012]);
    }
    expect((await service.ask('PUT', `${vendorsPath}/1`, { bill_vendor: {} })).status).toBe(404);
  });

  it.each(['404', '405'])('world readOne=%s', async (status) => {
    const service = await testbed({ level: 'service', world: [`readOne=${status}`] });
    const { vendorid } = await create(service);
    expect((await service.get(`${vendorsPath}/${vendorid}`)).status).toBe(Number(status));
  });

  it('world readDeleted=404', async () => {
    const service = await testbed({ level: 'service', world: ['readDeleted=404'] });
    const { vendorid } = await create(service);
    service.sandbox.vendors(account).delete(vendorid);
    expect((await service.get(`${vendorsPath}/${vendorid}`)).status).toBe(404);
  });

  it('world readLag: copies are behind by at most so many seconds, and not longer', async () => {
    const service = await testbed({ level: 'service', world: ['readLag=10'] });
    const { vendorid } = await create(service, { city: 'old' });
    await service.clock.advance(10_000);
    await edit(service, vendorid, { city: 'new' });
    const cities = async () => {
      const answers = Array.from({ length: 40 }, () => service.get(`${vendorsPath}/${vendorid}`));
      return new Set((await Promise.all(answers)).map(({ json }) => json.response.result.bill_vendor.city));
    };
    expect(await cities()).toEqual(new Set(['old', 'new']));
    await service.clock.advance(10_000);
    expect(await cities()).toEqual(new Set(['new']));
  });
});

describe('worlds of the record', () => {
  it('visState=text', async () => {
    expect(await create(await testbed({ level: 'service', world: ['visState=text'] }))).toMatchObject({
      vis_state: '0',
    });
  });

  it('balances=object', async () => {
    const { sandbox } = await testbed({ level: 'service', world: ['balances=object'], vendors: 1 });
    const vendorService = sandbox.vendors(account);
    const id = vendorService.all()[0]!['vendorid'] as number;
    expect(vendorService.setBalance(id, 'overdue', [{ amount: '0.10', code: 'EUR' }])).toMatchObject({
      overdue_balance: { amount: '0.10', code: 'EUR' },
    });
    expect(vendorService.setBalance(id, 'overdue', [])).toMatchObject({ overdue_balance: null });
  });

  it('B3 serviceTime=local falls back in autumn', async () => {
    const service = await testbed({ level: 'service', world: ['serviceTime=local'] });
    const { vendorid } = await create(service);
    const november = Date.UTC(2026, 10, 1, 5, 30) - service.clock.now();
    await service.clock.advance(november);
    const before = await edit(service, vendorid, { city: 'a' });
    await service.clock.advance(3_600_000);
    const after = await edit(service, vendorid, { city: 'b' });
    expect([before.updated_at, after.updated_at]).toEqual(['2026-11-01 01:30:00', '2026-11-01 01:30:00']);
  });

  it('createStatus=201', async () => {
    expect(
      (
        await (
          await testbed({ level: 'service', world: ['createStatus=201'] })
        ).ask('POST', vendorsPath, { bill_vendor: fields })
      ).status,
    ).toBe(201);
  });
});

describe('changes in the service itself', () => {
  it('moves balances without updated_at and without an event', async () => {
    const service = await testbed({ level: 'service' });
    const made = await create(service);
    await service.subscribe();
    await service.clock.advance(5_000);
    const moved = service.sandbox
      .vendors(account)
      .setBalance(made.vendorid, 'outstanding', [{ amount: '1.00', code: 'USD' }]);
    await service.clock.advance(5_000);
    expect(moved).toEqual({ ...made, outstanding_balance: [{ amount: { amount: '1.00', code: 'USD' } }] });
    expect(service.arrivals).toEqual([]);
  });

  it('counts the versions of a vendor and tells listeners', async () => {
    const { sandbox } = await testbed({ level: 'service', vendors: 1 });
    const vendorService = sandbox.vendors(account);
    const id = vendorService.all()[0]!['vendorid'] as number;
    const heard: number[] = [];
    sandbox.onChange(({ version }) => heard.push(version));
    expect(vendorService.version(id)).toBe(1);
    vendorService.archive(id);
    vendorService.restore(id);
    expect(vendorService.version(id)).toBe(3);
    vendorService.vanish(id);
    expect(vendorService.version(id)).toBeUndefined();
    expect(heard).toEqual([2, 3, 0]);
  });

  it('removes a vendor from lists, from reads and from the data of the service', async () => {
    const { sandbox, get } = await testbed({ level: 'service', vendors: 10 });
    const vendorService = sandbox.vendors(account);
    const id = vendorService.all()[0]!['vendorid'] as number;
    const before = (await get(vendorsPath)).json.response.result.total;
    vendorService.vanish(id);
    expect((await get(vendorsPath)).json.response.result.total).toBe(before - 1);
    expect((await get(`${vendorsPath}/${id}`)).status).toBe(404);
    expect(vendorService.all().some(({ vendorid }) => vendorid === id)).toBe(false);
    expect(vendorService.edit(id, { city: 'x' })).toBeUndefined();
  });
});
