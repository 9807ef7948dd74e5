/** What happens in the service without its API: by itself at a rate, or on request. */
import { describe, expect, it } from 'vitest';
import { eventNames } from '../../../../src/sandbox/core/access.ts';
import { account } from '../../../support/names.ts';
import { testbed, type Testbed } from '../../../support/testbed.ts';
import { gatewaysPath } from '../../../support/testbed/service.ts';

const events = `/sandbox/account/${account}/events`;

describe('events on request', () => {
  it('happen, every one that can be registered for', async () => {
    const service = await testbed({ level: 'service' });
    for (const noun of new Set(eventNames.map((name) => name.split('.')[0]))) await service.subscribe(noun);
    for (const [index, name] of eventNames.entries()) {
      const { status } = await service.ask('POST', events, { event: { name, object_id: index + 1 } });
      expect([name, status]).toEqual([name, 200]);
    }
    await service.clock.advance(1_000);
    expect(service.arrivals.map(({ form }) => [form.get('name'), form.get('object_id')])).toEqual(
      eventNames.map((name, index) => [name, String(index + 1)]),
    );
  });

  it.each([
    [{ event: { name: 'invoice.vanish' } }, 422],
    [{ event: { name: 'invoice' } }, 422],
    [{ event: { name: 'invoice.create', object_id: 0 } }, 422],
    [{ name: 'invoice.create' }, 422],
  ])('%j is refused', async (body, status) => {
    expect((await (await testbed({ level: 'service' })).ask('POST', events, body)).status).toBe(status);
  });

  it('need a token, a known account, and POST', async () => {
    const { ask } = await testbed({ level: 'service' });
    const body = { event: { name: 'invoice.create' } };
    expect((await ask('POST', events, body, { authorization: 'Bearer none' })).status).toBe(401);
    expect((await ask('POST', events.replace(account, 'nobody'), body)).status).toBe(404);
    const { status, headers } = await ask('GET', events);
    expect([status, headers['allow']]).toEqual([405, 'POST']);
  });
});

describe('a gateway that was removed', () => {
  const listed = async ({ get }: Testbed<'service'>) =>
    (await get(gatewaysPath)).json.response.result.gateways.map(({ sgid }) => sgid);

  it('comes back on request, as it was', async () => {
    const service = await testbed({ level: 'service' });
    const before = (await service.get(gatewaysPath)).json.response.result.gateways;
    const [{ sgid } = { sgid: 0 }] = before;
    const enable = `/sandbox/account/${account}/gateways/${sgid}`;
    expect((await service.ask('POST', enable)).status).toBe(404);
    await service.ask('DELETE', `${gatewaysPath}/${sgid}`);
    expect(await listed(service)).toHaveLength(1);
    expect((await service.ask('POST', enable)).status).toBe(200);
    expect(new Set((await service.get(gatewaysPath)).json.response.result.gateways)).toEqual(new Set(before));
  });

  it('comes back by itself with --events', async () => {
    const service = await testbed({ level: 'service', events: 10 });
    const [sgid = 0] = await listed(service);
    await service.ask('DELETE', `${gatewaysPath}/${sgid}`);
    await service.clock.advance(60_000);
    expect(await listed(service)).toContain(sgid);
  });
});

it('events about other things happen at a rate, each of them, and end with the sandbox', async () => {
  const service = await testbed({ level: 'service', events: 20 });
  for (const noun of new Set(eventNames.map((name) => name.split('.')[0]))) await service.subscribe(noun);
  await service.clock.advance(60_000);
  const told = new Set(service.arrivals.map(({ form }) => form.get('name')));
  expect([...told].sort()).toEqual(eventNames.filter((name) => !name.startsWith('bill_vendor.')).sort());
  service.sandbox.stop();
  service.arrivals.length = 0;
  await service.clock.advance(60_000);
  expect(service.arrivals).toEqual([]);
});
