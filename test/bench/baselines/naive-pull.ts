/** What somebody would write instead of this program: every page fetched, its vendors inserted or updated in one table. No history, and no proof. */
import { join } from 'node:path';
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import { textFields } from '../../../src/domain/vendor.ts';
import { eachPage, type WireVendor } from './bare-get.ts';
import { timed } from './bare-mirror.ts';
import type { Place } from '../setup/installation.ts';
import type { JobResult } from '../setup/job.ts';

const columns = ['vendorid', ...textFields, 'is_1099', 'vis_state', 'balances', 'tax_defaults'];

export async function job(place: Place): Promise<JobResult> {
  return { result: await timed(() => naivePull(place)) };
}

export async function naivePull(place: Place): Promise<void> {
  const sqlite = new Driver(join(place.folder, 'naive.db'));
  sqlite.pragma('journal_mode = WAL');
  sqlite.pragma('synchronous = FULL');
  sqlite.exec(`CREATE TABLE vendors (${columns.join()}, PRIMARY KEY (vendorid))`);
  const upsert = sqlite.prepare(
    `INSERT INTO vendors VALUES (${columns.map(() => '?').join()})
     ON CONFLICT DO UPDATE SET ${columns.map((name) => `${name} = excluded.${name}`).join()}`,
  );
  const takePage = sqlite.transaction((vendors: readonly WireVendor[]) => {
    for (const vendor of vendors) {
      const { vendorid, is_1099, vis_state, outstanding_balance, overdue_balance, tax_defaults } = vendor;
      const texts = textFields.map((field) => vendor[field] ?? null);
      const balances = JSON.stringify([outstanding_balance, overdue_balance]);
      upsert.run(vendorid, ...texts, Number(is_1099), vis_state, balances, JSON.stringify(tax_defaults));
    }
  });
  await eachPage(
    place,
    () => undefined,
    ({ response }) => takePage(response.result.bill_vendors),
  );
  sqlite.close();
}
