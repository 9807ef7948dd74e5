/** Where the mirror is and how to query it, printed after the first sync. */
import type { Settings } from '../../settings/parse.ts';
import { listVendors } from '../../store/reports/vendor-list.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { queryMirror } from '../setup/open-mirror.ts';
import { shellWord } from '../process/settings-option.ts';
import { counted } from '../terminal/counted.ts';
import { print } from '../terminal/print.ts';
import { table } from '../terminal/table.ts';
import { vendorColumns } from '../vendors/vendors-list.ts';

const firstRows = 5;

/** Prints a first query; and what it answers, where the `rows` are wanted. */
export async function printFirstQuery(
  context: ProcessContext,
  settings: Settings,
  show: { rows: boolean },
): Promise<void> {
  const { accounts, database } = settings;
  const account = accounts.length === 1 ? accounts[0] : undefined;
  const found = await queryMirror(context, settings, (snapshot) =>
    listVendors(snapshot, { account, visState: 0, presence: 'present', limit: firstRows }),
  );
  if (!found) return;
  const order = account === undefined ? 'account_id, vendorid' : 'vendorid';
  const query = `select vendorid, vendor_name, country from active_vendors order by ${order} limit ${firstRows}`;
  print(context, `\n${database} holds ${counted(found.total, 'active vendor')}. Query it:`);
  print(context, `\n  sqlite3 ${shellWord(database)} "${query}"`);
  const oneAccount = new Set(found.vendors.map(({ account_id }) => account_id)).size < 2;
  const columns = vendorColumns(context, { oneAccount, allActive: true, allPresent: true });
  if (show.rows && found.vendors.length > 0) print(context, `\n${await table(context, columns, found.vendors)}`);
}
