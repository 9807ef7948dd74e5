/** Reads by id that fail for a while: what is learned from them, and for how long. */
import { describe, expect, it } from 'vitest';
import { account } from '../support/names.ts';
import { someVendor } from '../support/testbed/daemon.ts';
import { testbed } from '../support/testbed.ts';

const isReading = (url: URL): boolean => /\/bill_vendors\/\d+$/.test(url.pathname);

describe('reads by id that a proxy refuses for four seconds', () => {
  it.each([404, 405, 501])(
    'K5 with status %i: within 90 seconds each delivery costs one read again',
    async (status) => {
      let isOut = false;
      const at = await testbed({
        level: 'daemon',
        network: (fetch) => (input, init) => {
          const url = new URL(input instanceof Request ? input.url : input);
          return isOut && isReading(url)
            ? Promise.resolve(new Response('<html></html>', { status }))
            : fetch(input, init);
        },
      });
      const id = someVendor(at);
      const edit = (name: string): void => void at.sandbox.vendors(account).edit(id, { vendor_name: name });
      const shows = (name: string): Promise<void> =>
        at.clock.until(
          `the vendor is ${name}`,
          () => at.query('SELECT 1 FROM vendors WHERE vendor_name = ?', name).length > 0,
        );
      isOut = true;
      edit('During');
      await at.clock.pass(4_000);
      isOut = false;
      await shows('During');
      await at.clock.pass(90_000);
      const before = at.requests.length;
      for (const name of ['After 1', 'After 2', 'After 3']) {
        edit(name);
        await shows(name);
      }
      const lists = at.requests.slice(before).filter((line) => line.endsWith('/bill_vendors'));
      expect(lists).toEqual([]);
    },
  );
});

describe('a service that reads no vendor by id', () => {
  it('K5 is asked no more after it has said so twice, a minute apart, and is doubted after minutes', async () => {
    const at = await testbed({ level: 'daemon', world: ['readOne=405'] });
    const id = someVendor(at);
    const change = async (name: string): Promise<number> => {
      const before = at.requests.length;
      at.sandbox.vendors(account).edit(id, { vendor_name: name });
      await at.clock.until(
        `the vendor is ${name}`,
        () => at.query('SELECT 1 FROM vendors WHERE vendor_name = ?', name).length > 0,
      );
      return at.requests.slice(before).filter((line) => /\/\d+$/.test(line)).length;
    };
    expect(await change('One')).toBeGreaterThan(0);
    await at.clock.pass(61_000);
    await change('Two');
    expect(await change('Three')).toBe(0);
    await at.clock.pass(3_600_000);
    expect(await change('Four')).toBeGreaterThan(0);
  });
});
