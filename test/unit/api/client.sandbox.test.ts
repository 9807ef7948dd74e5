/** The client and the sandbox: two independent readings of one reference, over real HTTP. */
import { afterEach, describe, expect, it } from 'vitest';
import type { ServiceClient } from '../../../src/api/client.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { startEmbeddedSandbox, type EmbeddedOptions, type EmbeddedSandbox } from '../../../src/sandbox/embedded.ts';
import type { FaultKind } from '../../../src/sandbox/core/worlds.ts';
import { oddWorld } from '../../support/odd-world.ts';
import { connectTo } from '../../support/network/connect-to.ts';
import { network } from '../../support/network/intercept.ts';

let running: EmbeddedSandbox | undefined;

afterEach(() => running?.stop());

async function served(options: Partial<EmbeddedOptions> = {}): Promise<ServiceClient> {
  running = await startEmbeddedSandbox({
    clock: systemClock,
    fetch: network,
    vendors: 230,
    rateLimits: null,
    world: oddWorld(),
    ...options,
  });
  return connectTo(running, { timeout: 1_000 });
}

const world = (...pairs: string[]): Partial<EmbeddedOptions> => ({ world: oddWorld(...pairs) });

async function walk(client: ServiceClient): Promise<Set<number>> {
  const ids = new Set<number>();
  for await (const { rows, total } of client.vendors.pages()) {
    for (const row of rows) ids.add(row.vendor().vendorid);
    expect(total).toBeGreaterThan(200);
  }
  return ids;
}

describe('the client against the sandbox', () => {
  it('walks the whole list, and reads each vendor by id with the same content', async () => {
    const client = await served();
    const ids = await walk(client);
    const { total, rows, servedAt } = await client.vendors.page(1);
    expect(ids.size).toBe(total);
    expect(servedAt).toBeTypeOf('number');
    for (const row of rows.slice(0, 10)) {
      expect(row.vendor().unknown.size).toBe(0);
      expect((await client.vendors.read(row.vendorid)).row.raw).toBe(row.raw);
    }
  });

  it('creates, edits, deletes, archives and restores', async () => {
    const client = await served();
    const fields = { vendor_name: 'Größe & Söhne', language: 'de', currency_code: 'EUR', is_1099: true };
    const created = (await client.vendors.create(fields)).row.vendor();
    expect(created).toMatchObject({ ...fields, vis_state: 0 });
    const { vendorid } = created;
    expect((await client.vendors.edit(vendorid, { note: 'neu', city: null })).row.vendor()).toMatchObject({
      city: null,
    });
    expect((await client.vendors.edit(vendorid, { vis_state: 1 })).row.vendor().vis_state).toBe(1);
    expect((await client.vendors.edit(vendorid, { vis_state: 2 })).row.vendor().vis_state).toBe(2);
    expect((await client.vendors.edit(vendorid, { vis_state: 0 })).row.vendor().vis_state).toBe(0);
  });

  it("passes on the service's message when a required field is missing", async () => {
    const client = await served();
    const lacking = { vendor_name: 'x', currency_code: 'EUR' } as Parameters<typeof client.vendors.create>[0];
    await expect(client.vendors.create(lacking)).rejects.toMatchObject({
      code: 'rejected',
      message: expect.stringContaining('language') as string,
    });
  });

  it('lists gateways and removes one', async () => {
    const client = await served();
    const [first, ...others] = await client.gateways.list();
    await client.gateways.remove(first!.sgid);
    expect(await client.gateways.list()).toEqual(others);
  });

  it.each([[], ['deletedCallback=204']])('registers, lists and deletes callbacks, %s', async (...pairs) => {
    const client = await served(world(...pairs));
    const { callbackid } = await client.callbacks.register('bill_vendor', 'http://127.0.0.1:9/hook');
    expect(await client.callbacks.list({ event: 'bill_vendor', verified: false })).toMatchObject([{ callbackid }]);
    expect((await client.callbacks.resend(callbackid)).verified).toBe(false);
    await client.callbacks.remove(callbackid);
    expect(await client.callbacks.list()).toEqual([]);
    await expect(client.callbacks.remove(callbackid)).rejects.toMatchObject({ code: 'not_found' });
  });

  it.each(['accounting', 'events', 'rpc', 'html', 'in200'])(
    'recognises an unknown vendor in the error form %s',
    async (form) => {
      const client = await served(world(`errorForm=${form}`));
      await expect(client.vendors.read(999_999_999)).rejects.toMatchObject({ code: 'not_found' });
    },
  );

  it.each([
    ['405', 'not_supported'],
    ['404', 'not_found'],
  ])('reports that vendors cannot be read by id: %s', async (status, code) => {
    const client = await served(world(`readOne=${status}`));
    const [row] = (await client.vendors.page(1)).rows;
    await expect(client.vendors.read(row!.vendorid)).rejects.toMatchObject({ code });
  });

  it.each(['visState=text', 'balances=object', 'perPage=ignored', 'order=shuffled'])(
    'A18 reads the same records in world %s',
    async (pair) => {
      const client = await served({ ...world(pair), vendors: 210 });
      for await (const { rows } of client.vendors.pages())
        for (const row of rows) expect(row.vendor().unknown).toEqual(new Map());
    },
  );

  it.each<FaultKind>(['html', 'truncated', 'reset', 'reset_after', '500', 'stall', 'hang'])(
    'A12 A24 A25 completes a walk although a page meets %s',
    async (kind) => {
      const client = await served();
      running!.sandbox.faults.next({ kind, match: ({ query }) => query.get('page') === '2' });
      const { total } = await client.vendors.page(1);
      expect((await walk(client)).size).toBe(total);
    },
  );

  it.each<[FaultKind, string]>([
    ['errors_in_200', 'access_denied'],
    ['403', 'access_denied'],
    ['401', 'unauthenticated'],
    ['redirect', 'redirected'],
  ])('A22 A31 ends a walk at a page that meets %s', async (kind, code) => {
    const client = await served();
    running!.sandbox.faults.next({ kind, match: ({ query }) => query.get('page') === '2' });
    await expect(walk(client)).rejects.toMatchObject({ code });
  });
});
