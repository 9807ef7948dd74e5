import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { faultKinds, type FaultKind } from '../../../src/sandbox/core/worlds.ts';
import { account } from '../../support/names.ts';
import { testbed } from '../../support/testbed.ts';
import { vendorsPath } from '../../support/testbed/service.ts';

const meet = async (kind: FaultKind, retryAfter?: string) => {
  const service = await testbed({ level: 'service', vendors: 20 });
  service.sandbox.faults.next({ kind, ...(retryAfter ? { retryAfter } : {}) });
  return { ...service, told: await service.get(vendorsPath) };
};

describe('faults', () => {
  it.each([
    ['401', 401],
    ['403', 403],
    ['500', 500],
    ['redirect', 302],
  ] as const)('%s', async (kind, status) => {
    expect((await meet(kind)).told.status).toBe(status);
  });

  it('A23 429 and 503 say how long to wait, in any form', async () => {
    for (const [kind, status] of [
      ['429', 429],
      ['503', 503],
    ] as const) {
      const { told } = await meet(kind);
      expect([told.status, told.headers['retry-after']]).toEqual([status, '2']);
    }
    expect((await meet('429_date')).told.headers['retry-after']).toBe('Thu, 15 Jan 2026 12:00:03 GMT');
    expect((await meet('429', '1000000000')).told.headers['retry-after']).toBe('1000000000');
  });

  it('A12 html is a page in status 200', async () => {
    const { told } = await meet('html');
    expect([told.status, told.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  });

  it('A11 empty_list', async () => {
    expect((await meet('empty_list')).told.json.response.result).toEqual({
      bill_vendors: [],
      page: 1,
      pages: 0,
      per_page: 15,
      total: 0,
    });
  });

  it('A4 wrong_page', async () => {
    const { told } = await meet('wrong_page');
    expect([told.json.response.result.page, told.json.response.result.bill_vendors.length]).toEqual([2, 15]);
  });

  it.each([
    ['hang', 'hang'],
    ['reset', 'reset'],
    ['reset_after', 'reset'],
    ['stall', 'stall'],
    ['truncated', 'truncate'],
  ] as const)('%s breaks the answer', async (kind, breakage) => {
    expect((await meet(kind)).told.answer.breakage?.kind).toBe(breakage);
  });

  it.each([
    ['reset', 0],
    ['reset_after', 1],
  ] as const)('D7 after %s there are %i vendors', async (kind, count) => {
    const { sandbox, ask } = await testbed({ level: 'service' });
    sandbox.faults.next({ kind });
    await ask('POST', vendorsPath, { bill_vendor: { vendor_name: 'A', language: 'en' } });
    expect(sandbox.vendors(account).all()).toHaveLength(count);
  });

  it('wait for the request that they match, and happen once', async () => {
    const { sandbox, get } = await testbed({ level: 'service' });
    sandbox.faults.next({ kind: '500', match: ({ query }) => query.get('page') === '2' });
    const statuses = [];
    for (const page of [1, 2, 2]) statuses.push((await get(`${vendorsPath}?page=${page}`)).status);
    expect(statuses).toEqual([200, 500, 200]);
  });

  it('come by rate, the same for the same seed', async () => {
    const statuses = async () => {
      const { get } = await testbed({ level: 'service', faults: { '500': 0.2, '401': 0.2 } });
      const seen = [];
      for (let count = 0; count < 200; count += 1) seen.push((await get(vendorsPath)).status);
      return seen;
    };
    const seen = await statuses();
    expect(seen).toEqual(await statuses());
    expect(new Set(seen)).toEqual(new Set([200, 500, 401]));
    expect(seen.filter((status) => status === 500).length).toBeGreaterThan(20);
  });

  it('are all described', () => {
    for (const meaning of Object.values(faultKinds)) expect(meaning).toMatch(/\w+ \w+/);
  });

  it('answers are compressed only when asked', async () => {
    const { ask, get } = await testbed({ level: 'service', vendors: 20 });
    const plain = await get(vendorsPath);
    const packed = await ask('GET', vendorsPath, undefined, { 'accept-encoding': 'br, gzip' });
    expect(packed.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(packed.answer.body).toString()).toBe(plain.text);
  });
});
