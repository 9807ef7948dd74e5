/** Records without a usable id, which are shown more than once. */
import { expect, it } from 'vitest';
import { changingResults } from '../../support/network/service-answers.ts';
import { testbed } from '../../support/testbed.ts';

it('three of them, two of which are alike, are counted as three where page 0 shows page 1', async () => {
  let spoiled: unknown[] | undefined;
  const at = await testbed({
    level: 'account',
    vendors: 35,
    world: ['perPage=honoured', 'pageZero=first'],
    settings: { service: { paging: { perPage: 10 } } },
    rewrite: changingResults((result) => {
      if (!result.bill_vendors?.length) return;
      const rows = result.bill_vendors;
      spoiled ??= rows.slice(0, 3).map(({ vendorid }) => vendorid);
      result.bill_vendors = rows.map((row) => {
        const nth = spoiled?.indexOf(row['vendorid']) ?? -1;
        if (nth < 0) return row;
        return nth === 0 ? { ...row, vendorid: null } : { vendorid: null };
      });
    }),
  });
  at.sandbox.faults.next({ kind: 'empty_list' });
  const run = await at.pull();
  expect(run.error?.message).toMatch(
    /^3 records of the list cannot be used: Row \d+ of page \d has no usable vendorid/,
  );
  expect(at.query("SELECT count(*) AS found FROM findings WHERE kind = 'record_rejected'")).toEqual([{ found: 3 }]);
});
