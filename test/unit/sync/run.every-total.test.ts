/** Moving lists (L22) of totals for which no size of a page has a last one of which half is free, and of others. */
import { expect, it } from 'vitest';
import { account } from '../../support/names.ts';
import { testbed } from '../../support/testbed.ts';

it.each([
  [176, 15, 'id'],
  [430, 15, 'id'],
  [359, 15, 'id'],
  [88, 10, 'id'],
  [96, 12, 'id'],
  [350, 15, 'id'],
  [90, 10, 'id'],
])(
  'L22 a list of %i vendors that changes while it is read, %i a page, by %s, is proven by windows',
  async (total, perPage, order) => {
    const ids: number[] = [];
    let moves = false;
    let requests = 0;
    const at = await testbed({
      level: 'account',
      vendors: 0,
      world: [`order=${order}`, 'listDeleted=hidden', 'visStateFilter=ignored'],
      settings: { service: { paging: { perPage, concurrency: 1 } } },
      onRequest: ({ sandbox }) => {
        requests += 1;
        if (!moves || requests % 3 !== 0) return;
        const vendors = sandbox.vendors(account);
        const { vendorid } = vendors.create({ vendor_name: `New ${ids.length}` }) as { vendorid: number };
        ids.push(vendorid);
        vendors.vanish(ids.splice(Math.floor(ids.length / 3), 1)[0]!);
      },
    });
    for (let nth = 0; nth < total; nth += 1) {
      const { vendorid } = at.sandbox.vendors(account).create({ vendor_name: `Vendor ${nth}` }) as { vendorid: number };
      ids.push(vendorid);
    }
    await at.clock.advance(3_600_000);
    moves = true;
    expect(await at.pull()).toMatchObject({ outcome: 'complete', proof: 'windows' });
  },
);
