/** Reads by id that fail for a while: what is learned from them, and for how long. */
import { describe, expect, it } from 'vitest';
import { account } from '../../support/names.ts';
import { someVendor } from '../../support/testbed/daemon.ts';
import { testbed } from '../../support/testbed.ts';

const isReading = (url: URL): boolean => /\/bill_vendors\/\d+$/.test(url.pathname);

describe('reads by id that a proxy refuses for four seconds', () => {
  it.each([404, 405, 501])(
    'K5 with status %i: within 90 seconds each delivery costs one read again',
    async (status) => {
      let isOut = false;
      const at = await testbed({
        level: 'daemon',
        answer: (url) => (isOut && isReading(url) ? new Response('<html></html>', { status }) : undefined),
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
  it.each([404, 405, 501])(
    'C9 K5 with status %i: each change costs one sweep and, once this is known, no read by id until it is tried again',
    async (status) => {
      const at = await testbed({
        level: 'daemon',
        answer(url) {
          if (!isReading(url)) return undefined;
          reads += 1;
          return new Response('<html></html>', { status });
        },
      });
      let reads = 0;
      const id = someVendor(at);
      /** Reads by id and list requests that one change costs, with what follows it. */
      const change = async (name: string): Promise<{ reads: number; lists: number }> => {
        const [readsBefore, before] = [reads, at.requests.length];
        at.sandbox.vendors(account).edit(id, { vendor_name: name });
        await at.clock.until(
          `the vendor is ${name}`,
          () => at.query('SELECT 1 FROM vendors WHERE vendor_name = ?', name).length > 0,
        );
        await at.untilQuiet();
        const lists = at.requests.slice(before).filter((line) => line.endsWith('/bill_vendors')).length;
        return { reads: reads - readsBefore, lists };
      };
      const costs = [await change('One')];
      await at.clock.pass(61_000);
      costs.push(await change('Two'), await change('Three'));
      await at.clock.pass(3_600_000);
      costs.push(await change('Four'), await change('Five'));
      // Three listed vendors are asked for each time: before the change and before its second look, once more to be sure, and in doubt.
      expect(costs.map(({ reads }) => reads)).toEqual([6, 3, 0, 3, 0]);
      // Every change is found by a sweep and looked at by a second one; a scheduled one may fall in between.
      for (const { lists } of costs) expect([lists > 0, lists <= 8]).toEqual([true, true]);
    },
  );
});
