import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { listDeliveries } from '../../../src/store/deliveries.ts';
import { readMirror } from '../../support/mirror-file.ts';
import { delivery, formType, signed } from '../../support/deliveries/signed-delivery.ts';
import { account } from '../../support/names.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const post = (place: Testbed<'listener'>, init: RequestInit, to = place.address) => fetch(to, init);

/** What the journal holds, the newest first, through a reader's connection. */
async function journal({ mirror }: Testbed<'listener'>) {
  return (await listDeliveries(readMirror(mirror.path, virtualClock()).connection, {})).deliveries;
}

const marks = async ({ mirror }: Testbed<'listener'>) =>
  (await mirror.queue.dueMarks(account, 100)).map(({ vendorid }) => vendorid);

describe('a genuine delivery', () => {
  it('is journalled, marks its vendor, wakes the worker, and is answered with an empty 200', async () => {
    const place = await testbed({ level: 'listener' });
    const answer = await post(place, signed(delivery));
    expect([answer.status, await answer.text()]).toEqual([200, '']);
    expect(await journal(place)).toMatchObject([
      {
        account_id: account,
        name: 'bill_vendor.update',
        object_id: 1001,
        business_id: 4242,
        identity_id: 99,
        user_id: 1,
        outcome: 'pending',
        settled_at: null,
      },
    ]);
    expect(await marks(place)).toEqual([1001]);
    expect([place.called.deliveries, place.outcomes]).toEqual([1, ['accepted']]);
  });

  it('C7, C8 whose object is one of our callbacks is read as a vendor too', async () => {
    const place = await testbed({ level: 'listener' });
    expect((await post(place, signed({ ...delivery, object_id: '77' }))).status).toBe(200);
    expect(await marks(place)).toEqual([77]);
  });

  it.each([
    ['Bill_Vendor.Update', 'bill_vendor.update'],
    ['bill_vendors.archive', 'bill_vendor.archive'],
    ['BILL_VENDOR', 'bill_vendor'],
    [' billVendor.created', 'bill_vendor.created'],
    ['bill-vendors.delete', 'bill_vendor.delete'],
  ])('C16 about a vendor, though it is called %j, marks it, and is found under its usual name', async (sent, name) => {
    const place = await testbed({ level: 'listener' });
    expect((await post(place, signed({ ...delivery, name: sent }))).status).toBe(200);
    expect(await journal(place)).toMatchObject([{ name, object_id: 1001, outcome: 'pending' }]);
    expect([await marks(place), place.outcomes]).toEqual([[1001], ['accepted']]);
  });

  it.each([
    ['C16 another noun', { name: 'invoice.create' }, 1001],
    ['C16 no noun that anybody knows', { name: 'ünknown 事件' }, 1001],
    ['C16 a noun that only begins alike', { name: 'Bill_Vendor_Note.Update' }, 1001],
    ['L26 another noun, and no id', { name: 'invoice.create', object_id: 'x' }, null],
  ])('%s is journalled, ignored, and answered with 200', async (_, change, objectId) => {
    const place = await testbed({ level: 'listener' });
    expect((await post(place, signed({ ...delivery, ...change }))).status).toBe(200);
    expect(await journal(place)).toMatchObject([{ outcome: 'ignored', object_id: objectId }]);
    expect((await journal(place))[0]?.settled_at).not.toBeNull();
    expect([await marks(place), place.called.deliveries, place.outcomes]).toEqual([[], 0, ['ignored']]);
  });

  it.each([
    ['a negative object_id', { object_id: '-5' }],
    ['an object_id beyond 2^53', { object_id: '9007199254740993' }],
    ['an object_id that is an address', { object_id: 'http://169.254.169.254/' }],
    ['an object_id that is a path', { object_id: '../../systems/gateways/1' }],
    ['an object_id with blanks', { object_id: ' 1001' }],
    ['an empty object_id', { object_id: '' }],
    ['no object_id', { object_id: undefined }],
  ])('H7, L26 with %s is journalled, and asks for a sweep', async (_, change) => {
    const place = await testbed({ level: 'listener' });
    const { object_id, ...rest } = { ...delivery, ...change };
    const sent = signed(object_id === undefined ? rest : { ...rest, object_id });
    expect((await post(place, sent)).status).toBe(200);
    expect(await journal(place)).toMatchObject([{ outcome: 'ignored', object_id: null }]);
    expect(await place.mirror.sweepRequests.sweepRequest(account)).toMatchObject({ generation: 1 });
    expect(await place.mirror.sweepRequests.callbackIds(account)).toBeUndefined();
    expect([await marks(place), place.called.deliveries, place.outcomes]).toEqual([[], 1, ['accepted']]);
  });

  it('C17, C19 is accepted with unknown parameters, and without optional ones', async () => {
    const place = await testbed({ level: 'listener' });
    const { name = '', object_id = '', account_id = '' } = delivery;
    expect((await post(place, signed({ name, object_id, account_id }))).status).toBe(200);
    expect((await post(place, signed({ zeal: 'a b', ...delivery, 'a[]': '' }))).status).toBe(200);
  });

  it('D9 that is signed with the previous verifier is accepted for a day after the change', async () => {
    const clock = virtualClock();
    const place = await testbed({ level: 'listener', clock });
    const { verifiers } = place.secrets;
    const fresh = 'another-verifier-0123456789';
    await verifiers.expect(account, 'bill_vendor', 77);
    await verifiers.prove(account, 'bill_vendor', 77, new Secret(fresh));
    expect((await post(place, signed(delivery, fresh))).status).toBe(200);
    expect((await post(place, signed(delivery))).status).toBe(200);
    await clock.advance(86_400_001);
    expect((await post(place, signed(delivery))).status).toBe(401);
    expect((await post(place, signed(delivery, fresh))).status).toBe(200);
  });

  it('E6 is accepted with its signature in a header of the configured name', async () => {
    const place = await testbed({ level: 'listener', signatureHeader: 'X-Signature' });
    const { headers, ...rest } = signed(delivery);
    const renamed = { 'content-type': formType, 'X-Signature': headers['x-service-hmac-sha256'] ?? '' };
    expect((await post(place, { ...rest, headers: renamed })).status).toBe(200);
    expect((await post(place, { ...rest, headers })).status).toBe(400);
  });
});

it('L25 a code in JSON that is no form is kept', async () => {
  const place = await testbed({ level: 'listener' });
  await place.secrets.verifiers.expect(account, 'bill_vendor', 77);
  const body = JSON.stringify({ name: 'callback.verify', verifier: '100%ff&', object_id: 77, account_id: account });
  const headers = { 'content-type': 'application/json' };
  expect((await post(place, { method: 'POST', headers, body })).status).toBe(200);
  const codes = await place.secrets.verifiers.candidates(account, 77);
  expect(codes.map((code) => code.reveal())).toEqual(['100%ff&']);
});

describe('a refused request has its own status and leaves nothing', () => {
  const good = signed(delivery);
  const header = good.headers['x-service-hmac-sha256'] ?? '';
  type Case = [title: string, status: number, init: RequestInit, outcome: string];
  const form = (body: string, headers: Record<string, string> = {}): RequestInit => ({
    method: 'POST',
    headers: { ...good.headers, ...headers },
    body,
  });
  const cases: Case[] = [
    ['405 another method', 405, { method: 'PUT', headers: good.headers, body: good.body }, 'wrong_method'],
    ['405 a GET', 405, {}, 'wrong_method'],
    ['415 another type', 415, form(good.body, { 'content-type': 'text/plain' }), 'wrong_type'],
    [
      '415 no type',
      415,
      { method: 'POST', headers: { 'x-service-hmac-sha256': header }, body: new Uint8Array(1) },
      'wrong_type',
    ],
    ['H2 415 an encoded body', 415, form(good.body, { 'content-encoding': 'gzip' }), 'wrong_type'],
    [
      '415 a delivery as JSON',
      415,
      form(JSON.stringify(delivery), { 'content-type': 'application/json' }),
      'wrong_type',
    ],
    ['H2 413 a body over 16 KB', 413, form('a'.repeat(16_385)), 'too_large'],
    ['400 nothing', 400, form(''), 'malformed'],
    ['400 not UTF-8', 400, form('name=%FF'), 'malformed'],
    ['C18 400 doubled keys', 400, form(`${good.body}&name=bill_vendor.update`), 'malformed'],
    [
      'C18 400 a thousand keys',
      400,
      form(`${good.body}&${Array.from({ length: 1_000 }, (_, n) => `k${n}=`).join('&')}`),
      'malformed',
    ],
    ['400 no name', 400, form('object_id=1&account_id=6BApk'), 'malformed'],
    ['L26 401 no object, not signed', 401, form('name=bill_vendor.update&account_id=6BApk'), 'wrong_signature'],
    ['400 no account', 400, form('name=bill_vendor.update&object_id=1'), 'malformed'],
    ['E8 400 the account of another path', 400, signed({ ...delivery, account_id: 'Other' }), 'malformed'],
    ['400 no signature', 400, { method: 'POST', headers: { 'content-type': formType }, body: good.body }, 'unsigned'],
    ['E5 400 two signatures', 400, form(good.body, { 'x-other-hmac-sha256': header }), 'unsigned'],
    ['H1 401 signed by somebody else', 401, signed(delivery, 'not-the-verifier'), 'wrong_signature'],
    ['H1 401 changed on the way', 401, form(good.body.replace('1001', '1002')), 'wrong_signature'],
    [
      'E4 401 a signature of another length',
      401,
      form(good.body, { 'x-service-hmac-sha256': 'AAAA' }),
      'wrong_signature',
    ],
    [
      'E5 401 a list of signatures',
      401,
      form(good.body, { 'x-service-hmac-sha256': `${header}, ${header}` }),
      'wrong_signature',
    ],
    [
      'D2 403 a code that nobody asked for',
      403,
      form('name=callback.verify&verifier=a-strangers-code&object_id=77'),
      'unexpected_code',
    ],
    ['D2 400 a verification without a code', 400, form('name=callback.verify&object_id=77'), 'malformed'],
  ];

  it.each(cases)('for %s', async (_, status, init, outcome) => {
    const place = await testbed({ level: 'listener' });
    const answer = await post(place, init);
    expect([answer.status, await answer.text(), place.outcomes]).toEqual([status, '', [outcome]]);
    expect(answer.headers.get('allow')).toBe(status === 405 ? 'POST' : null);
    expect([await journal(place), await marks(place)]).toEqual([[], []]);
    expect(place.called).toEqual({ deliveries: 0, codes: 0, silences: 0 });
  });

  it('E8 with a signature of another account', async () => {
    const place = await testbed({ level: 'listener' });
    const other = await place.secrets.verifiers.pathToken('Other');
    const address = `${place.base}/webhooks/Other/${other.reveal()}`;
    expect((await post(place, signed({ ...delivery, account_id: 'Other' }), address)).status).toBe(401);
    expect((await post(place, signed(delivery), address)).status).toBe(400);
  });

  it('H11, H14 with the same 404 for every wrong path, without a body or a name, before its body is read', async () => {
    const place = await testbed({ level: 'listener' });
    const token = place.address.slice(place.address.lastIndexOf('/') + 1);
    const other = (await place.secrets.verifiers.pathToken('Other')).reveal();
    const paths = [
      '/',
      '/webhooks',
      '/webhooks/',
      `/webhooks/${account}`,
      `/webhooks/${account}/`,
      `/webhooks/${account}/wrong`,
      `/webhooks/${account}/${token}x`,
      `/webhooks/${account}/${token.slice(0, -1)}`,
      `/webhooks/${account}/${other}`,
      `/webhooks/nobody/${token}`,
      `/webhooks/Other/${token}`,
      `/webhooks/${account}/${token}/x`,
      '/metrics',
      '/readyz',
      '/api/status',
    ];
    const seen = new Set<string>();
    for (const path of paths) {
      const answer = await fetch(place.base + path, signed(delivery));
      const headers = [...answer.headers].filter(([name]) => name !== 'date');
      seen.add(JSON.stringify([answer.status, await answer.text(), headers]));
    }
    expect([...seen]).toEqual([
      JSON.stringify([
        404,
        '',
        [
          ['connection', 'close'],
          ['content-length', '0'],
        ],
      ]),
    ]);
    expect(place.outcomes).toEqual(paths.map(() => 'unknown_path'));
  });

  it('H11 without a server name or an error text in the answer', async () => {
    const place = await testbed({
      level: 'listener',
      mirror: () => ({ acceptDeliveries: () => Promise.reject(new TypeError('secret stack')) }),
    });
    const answer = await post(place, signed(delivery));
    expect([answer.status, await answer.text(), answer.headers.get('retry-after')]).toEqual([503, '', '5']);
    expect([answer.headers.get('server'), answer.headers.get('x-powered-by')]).toEqual([null, null]);
  });

  it('for methods of /healthz other than GET', async () => {
    const place = await testbed({ level: 'listener' });
    const answer = await fetch(`${place.base}/healthz`);
    expect([answer.status, await answer.text()]).toEqual([200, 'ok\n']);
    expect((await fetch(`${place.base}/healthz`, { method: 'POST' })).status).toBe(405);
  });
});
