import { describe, expect, it } from 'vitest';
import { sign } from '../../../../src/sandbox/delivery/event-dispatcher.ts';
import { parseWorld } from '../../../../src/sandbox/core/worlds.ts';
import { account } from '../../../support/names.ts';
import { testbed, type Testbed } from '../../../support/testbed.ts';
import { callbacksPath, type Arrival } from '../../../support/testbed/service.ts';

const vendorService = ({ sandbox }: Testbed<'service'>) => sandbox.vendors(account);
const someVendor = (service: Testbed<'service'>): number =>
  vendorService(service).create({ vendor_name: 'A' })['vendorid'] as number;
const told = ({ arrivals }: Testbed<'service'>): string[] =>
  arrivals.map(({ form }) => `${form.get('name') ?? ''} ${form.get('object_id') ?? ''}`);
const outcomes = ({ sandbox }: Testbed<'service'>) =>
  sandbox
    .deliveries()
    .filter(({ kind }) => kind !== 'verification')
    .map(({ attempt, status, outcome }) => `${attempt} ${String(status)} ${outcome}`);

const signatureOf = ({ headers }: Arrival) => headers['X-Service-Hmac-SHA256'];
const signedWith = (arrival: Arrival, key: string, ...world: string[]) =>
  signatureOf(arrival) === sign([...arrival.form], key, parseWorld(world));
const code = ({ sandbox }: Testbed<'service'>, id: number) => sandbox.callbacks(account).get(id)!.verifier;

describe('a delivery', () => {
  it('carries its parameters as a form, signed with the verifier, in an order that changes', async () => {
    const service = await testbed({ level: 'service' });
    const id = await service.subscribe();
    for (let count = 0; count < 6; count += 1) someVendor(service);
    await service.clock.advance(1_000);
    const orders = new Set(service.arrivals.map(({ form }) => [...form.keys()].join()));
    expect(orders.size).toBeGreaterThan(1);
    for (const arrival of service.arrivals) {
      expect([...arrival.form.keys()].sort()).toEqual([
        'account_id',
        'business_id',
        'identity_id',
        'name',
        'object_id',
        'user_id',
      ]);
      expect(arrival.headers['content-type']).toBe('application/x-www-form-urlencoded');
      expect(signedWith(arrival, code(service, id))).toBe(true);
    }
  });

  it('goes to each verified callback registered for the event', async () => {
    const service = await testbed({ level: 'service' });
    await service.subscribe('bill_vendor', 'https://a.example');
    await service.subscribe('bill_vendor.update', 'https://b.example');
    await service.subscribe('bill', 'https://c.example');
    await service.ask('POST', callbacksPath, { callback: { event: 'bill_vendor', uri: 'https://d.example' } });
    await service.clock.advance(1_000);
    service.arrivals.length = 0;
    service.sandbox.emit(account, 'bill_vendor.update', 7);
    service.sandbox.emit(account, 'bill.create', 8);
    await service.clock.advance(1_000);
    expect(service.arrivals.map(({ uri, form }) => `${uri} ${form.get('object_id') ?? ''}`)).toEqual([
      'https://a.example 7',
      'https://b.example 7',
      'https://c.example 8',
    ]);
  });

  it('C16 of an undocumented event can be sent too', async () => {
    const service = await testbed({ level: 'service' });
    await service.subscribe();
    service.sandbox.emit(account, 'bill_vendor.merge', 7);
    await service.clock.advance(1_000);
    expect(told(service)).toEqual(['bill_vendor.merge 7']);
  });

  it.each([302, 404, 500, undefined])(
    'answered with %s failed, and is tried again until it is acknowledged',
    async (status) => {
      const service = await testbed({ level: 'service' });
      await service.subscribe();
      service.answerWith(status);
      someVendor(service);
      await service.clock.advance(14_000);
      service.answerWith(200);
      await service.clock.advance(3_600_000);
      expect(outcomes(service)).toEqual([`1 ${String(status)} failed`, '2 200 acknowledged']);
    },
  );

  it('waits longer after each failure, and is dropped after several', async () => {
    const service = await testbed({ level: 'service', world: ['attempts=4'] });
    await service.subscribe();
    service.answerWith(500);
    someVendor(service);
    await service.clock.advance(24 * 3_600_000);
    expect(outcomes(service)).toEqual(['1 500 failed', '2 500 failed', '3 500 failed', '4 500 dropped']);
    const times = service.sandbox
      .deliveries()
      .slice(-4)
      .map(({ at }) => at);
    expect(times.map((time) => (time - times[0]!) / 1_000)).toEqual([0, 15, 75, 315]);
  });

  it('is dropped when its callback has been removed or asks for a new code', async () => {
    const service = await testbed({ level: 'service', deliveries: { delay: [5_000, 5_000] } });
    const id = await service.subscribe();
    someVendor(service);
    await service.ask('PUT', `${callbacksPath}/${id}`, { callback: { resend: true } });
    await service.clock.advance(10_000);
    expect(outcomes(service)).toEqual(['0 undefined dropped']);
  });

  it('D8 is not made for what happened while the callback was unverified', async () => {
    const service = await testbed({ level: 'service', deliveries: { delay: [5_000, 5_000] } });
    const id = await service.subscribe();
    await service.ask('PUT', `${callbacksPath}/${id}`, { callback: { resend: true } });
    someVendor(service);
    await service.ask('PUT', `${callbacksPath}/${id}`, { callback: { verifier: code(service, id) } });
    await service.clock.advance(10_000);
    expect(outcomes(service)).toEqual([]);
  });

  it('tells listeners of each attempt', async () => {
    const service = await testbed({ level: 'service' });
    await service.subscribe();
    const heard: string[] = [];
    const stop = service.sandbox.onDelivery(({ outcome }) => heard.push(outcome));
    someVendor(service);
    await service.clock.advance(1_000);
    stop();
    someVendor(service);
    await service.clock.advance(1_000);
    expect(heard).toEqual(['acknowledged']);
  });

  it('is never sent after the sandbox has stopped', async () => {
    const service = await testbed({ level: 'service' });
    await service.subscribe();
    someVendor(service);
    service.sandbox.stop();
    someVendor(service);
    await service.clock.advance(1_000);
    expect(service.arrivals).toEqual([]);
    expect(service.clock.pending()).toEqual([]);
  });
});

describe('disabling', () => {
  const fail = async (world: string[]) => {
    const service = await testbed({ level: 'service', world: ['disableAfter=60', ...world] });
    const id = await service.subscribe();
    service.answerWith(500);
    someVendor(service);
    await service.clock.advance(3_600_000);
    someVendor(service);
    await service.clock.advance(1_000);
    service.answerWith(200);
    service.arrivals.length = 0;
    someVendor(service);
    await service.clock.advance(1_000);
    const list = (await service.get(callbacksPath)).json.response.result.callbacks;
    return { service, id, list };
  };

  it.each([
    ['unverified', [{ verified: false }]],
    ['absent', []],
    ['silent', [{ verified: true }]],
  ])('after a long time of failures only: world disabled=%s', async (disabled, shown) => {
    const { service, list } = await fail([`disabled=${disabled}`]);
    expect(service.arrivals).toEqual([]);
    expect(list).toMatchObject(shown);
  });

  it.each(['unverified', 'absent', 'silent'])('ends with a new code that is verified: %s', async (disabled) => {
    const { service, id } = await fail([`disabled=${disabled}`]);
    await service.ask('PUT', `${callbacksPath}/${id}`, { callback: { resend: true } });
    await service.ask('PUT', `${callbacksPath}/${id}`, { callback: { verifier: code(service, id) } });
    await service.clock.advance(1_000);
    service.arrivals.length = 0;
    someVendor(service);
    await service.clock.advance(1_000);
    expect(service.arrivals).toHaveLength(1);
  });

  it('does not happen while anything is acknowledged', async () => {
    const service = await testbed({ level: 'service', world: ['disableAfter=60'] });
    const id = await service.subscribe();
    for (let hour = 0; hour < 4; hour += 1) {
      service.answerWith(hour % 2 ? 200 : 500);
      someVendor(service);
      await service.clock.advance(3_600_000);
    }
    expect(service.sandbox.callbacks(account).get(id)?.disabled).toBe(false);
  });
});

describe('worlds of events', () => {
  const eventsOf = async (
    world: string[],
    act: (service: Testbed<'service'>, id: number) => void,
  ): Promise<string[]> => {
    const service = await testbed({ level: 'service', world });
    const id = someVendor(service);
    await service.subscribe();
    act(service, id);
    await service.clock.advance(1_000);
    return service.arrivals.map(({ form }) => form.get('name')!.split('.')[1]!).sort();
  };
  const remove = (service: Testbed<'service'>, id: number) => vendorService(service).delete(id);
  const archive = (service: Testbed<'service'>, id: number) => vendorService(service).archive(id);

  it.each([
    ['update', ['update']],
    ['delete', ['delete']],
    ['both', ['delete', 'update']],
    ['none', []],
  ])('B9 deleteEvent=%s', async (value, events) => {
    expect(await eventsOf([`deleteEvent=${value}`], remove)).toEqual(events);
  });

  it.each([
    ['update', ['update']],
    ['delete', ['delete']],
    ['none', []],
  ])('archiveEvent=%s', async (value, events) => {
    expect(await eventsOf([`archiveEvent=${value}`], archive)).toEqual(events);
  });

  it.each([
    ['update', ['update']],
    ['create', ['create']],
    ['none', []],
  ])('restoreEvent=%s', async (value, events) => {
    const world = [`restoreEvent=${value}`, 'archiveEvent=none'];
    expect(
      await eventsOf(world, (service, id) => {
        archive(service, id);
        vendorService(service).restore(id);
      }),
    ).toEqual(events);
  });

  it('C7 objectId=callback', async () => {
    const service = await testbed({ level: 'service', world: ['objectId=callback'] });
    const id = await service.subscribe();
    someVendor(service);
    await service.clock.advance(1_000);
    expect(told(service)).toEqual([`bill_vendor.create ${id}`]);
  });

  it.each([
    ['keyOrder=arrival', 'escaping=ascii'],
    ['keyOrder=sorted', 'escaping=ascii'],
    ['keyOrder=arrival', 'escaping=utf8'],
    ['keyOrder=sorted', 'escaping=utf8'],
  ])('E1 the signature in %s, %s, with a parameter beyond ASCII', async (...world) => {
    const service = await testbed({ level: 'service', world: ['extraParameter=present', ...world] });
    const id = await service.subscribe();
    someVendor(service);
    await service.clock.advance(1_000);
    const [arrival] = service.arrivals;
    expect(arrival?.form.get('origin')).toContain('東京');
    expect(signedWith(arrival!, code(service, id), ...world)).toBe(true);
  });

  it('D9 signAt=event signs with the code of the event, even after a new one', async () => {
    const service = await testbed({ level: 'service', world: ['signAt=event'], deliveries: { delay: [5_000, 5_000] } });
    const id = await service.subscribe();
    const old = code(service, id);
    someVendor(service);
    await service.ask('PUT', `${callbacksPath}/${id}`, { callback: { resend: true } });
    await service.ask('PUT', `${callbacksPath}/${id}`, { callback: { verifier: code(service, id) } });
    await service.clock.advance(10_000);
    const arrival = service.arrivals.find(({ form }) => form.get('name') === 'bill_vendor.create');
    expect(signedWith(arrival!, old)).toBe(true);
  });
});

describe('the plan of deliveries', () => {
  const planned = async (deliveries: object, minutes: number): Promise<Testbed<'service'>> => {
    const service = await testbed({ level: 'service', deliveries: { delay: [0, 0], ...deliveries } });
    await service.subscribe();
    for (let count = 0; count < 20; count += 1) someVendor(service);
    await service.clock.advance(minutes * 60_000);
    return service;
  };

  it('C10 lose', async () => {
    const service = await planned({ lose: 1 }, 10);
    expect(service.arrivals).toEqual([]);
    expect(new Set(outcomes(service))).toEqual(new Set(['0 undefined lost']));
  });

  it('C1 repeat, though all were acknowledged', async () => {
    expect((await planned({ repeat: 1 }, 1)).arrivals).toHaveLength(40);
  });

  it('late', async () => {
    expect((await planned({ late: 1 }, 0)).arrivals.length).toBeLessThan(5);
    expect((await planned({ late: 1 }, 10)).arrivals).toHaveLength(20);
  });

  it('C2 reorder', async () => {
    const { arrivals } = await planned({ reorder: 0.5 }, 1);
    const ids = arrivals.map(({ form }) => Number(form.get('object_id')));
    expect(ids).toHaveLength(20);
    expect(ids).not.toEqual(ids.toSorted((a, b) => a - b));
  });

  it('H1 forge sends others with an invalid signature', async () => {
    const service = await planned({ forge: 1 }, 1);
    const [{ id } = { id: 0 }] = service.sandbox.callbacks(account).all();
    expect(service.arrivals).toHaveLength(40);
    expect(service.arrivals.filter((arrival) => signedWith(arrival, code(service, id)))).toHaveLength(20);
  });

  it('is the same for the same seed', async () => {
    const plan = { lose: 0.2, late: 0.2, repeat: 0.2, reorder: 0.2, forge: 0.2 };
    expect(told(await planned(plan, 20))).toEqual(told(await planned(plan, 20)));
  });
});
