/** Reads by id that fail for a while: what is learned from them, and for how long. */
import { describe, expect, it } from 'vitest';
import { account } from '../../support/names.ts';
import { someVendor } from '../../support/testbed/daemon.ts';
import { testbed } from '../../support/testbed.ts';

const isReading = (url: URL): boolean => /\/bill_vendors\/\d+$/.test(url.pathname);

/** A daemon whose reads by id are answered by a proxy while `isOut`, and what changes of one vendor cost. */
async function behindProxy(answer: () => Response) {
  const proxy = { isOut: false, reads: 0 };
  const at = await testbed({
    level: 'daemon',
    answer(url) {
      if (!isReading(url)) return undefined;
      proxy.reads += 1;
      return proxy.isOut ? answer() : undefined;
    },
  });
  const id = someVendor(at);
  const change = async (name: string): Promise<void> => {
    at.sandbox.vendors(account).edit(id, { vendor_name: name });
    await at.clock.until(
      `the vendor is ${name}`,
      () => at.query('SELECT 1 FROM vendors WHERE vendor_name = ?', name).length > 0,
    );
  };
  /** Makes changes, each with its name. @returns the requests of lists that they cost. */
  const listsFor = async (...names: string[]): Promise<string[]> => {
    const before = at.requests.length;
    for (const name of names) await change(name);
    return at.requests.slice(before).filter((line) => line.endsWith('/bill_vendors'));
  };
  return { at, proxy, id, change, listsFor };
}

const formless = (status: number) => (): Response => new Response('<html></html>', { status });

it('K5 reads by id that a proxy refuses for ten seconds with 405: within 90 seconds each delivery costs one read again, an hour later as well', async () => {
  const { at, proxy, id, listsFor } = await behindProxy(formless(405));
  for (const round of ['First', 'Second']) {
    proxy.isOut = true;
    at.sandbox.vendors(account).edit(id, { vendor_name: `${round} outage` });
    await at.clock.pass(10_000);
    proxy.isOut = false;
    await listsFor(`${round} found`);
    await at.clock.pass(90_000);
    expect(await listsFor(`${round} one`, `${round} two`, `${round} three`)).toEqual([]);
    await at.clock.pass(3_600_000);
  }
});

it('K5 reads by id that are denied for minutes still count as supported', async () => {
  const denied = { response: { errors: [{ errno: 1003, message: 'Access denied.' }] } };
  const { at, proxy, listsFor } = await behindProxy(() => Response.json(denied, { status: 403 }));
  proxy.isOut = true;
  for (const name of ['One', 'Two', 'Three']) {
    at.sandbox.vendors(account).create({ vendor_name: name, language: 'en' });
    await at.clock.pass(61_000);
  }
  proxy.isOut = false;
  await at.clock.pass(30_000);
  expect(await listsFor('After one', 'After two')).toEqual([]);
});

it('C9 K5 reads by id that worked, and are answered with 501 from now on: each change costs a list and, once that is learnt, no read', async () => {
  const { at, proxy, change } = await behindProxy(formless(501));
  await change('Before');
  proxy.isOut = true;
  await change('One');
  await at.clock.pass(61_000);
  await change('Two');
  await at.untilQuiet();
  const { reads } = proxy;
  await change('Three');
  await at.untilQuiet();
  expect(proxy.reads).toBe(reads);
});

describe('a service that reads no vendor by id', () => {
  it.each([404, 405])(
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
      const before = reads;
      await at.clock.pass(3_600_000);
      expect(reads).toBeGreaterThan(before);
      costs.push(await change('Four'), await change('Five'));
      // Three listed vendors are asked for each time: after the first run, before the change and before its second look, and once more to be sure.
      expect(costs.map(({ reads }) => reads)).toEqual([9, 3, 0, 0, 0]);
      // Every change is found by a sweep and looked at by a second one; a scheduled one may fall in between. Each asks for two pages: the
      // second shows that the list ends.
      for (const { lists } of costs) expect([lists > 0, lists <= 10]).toEqual([true, true]);
    },
  );
});
