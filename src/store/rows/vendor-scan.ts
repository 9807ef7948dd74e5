/** Who is in the mirror: the vendors of an account in order of their numbers, a chunk at a time. */
import { timestamp } from '../../domain/clock.ts';
import { mayDisown } from '../decide/served.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import { ofVendor, type Key } from './stored-vendor.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';
import type { AccountTable } from '../tables/mirror-tables.ts';
import type { ScannedVendor, VendorTraits } from '../records/scanned-vendor.ts';

const chunk = 5_000;
const few = 3;

/** The accounts that a settings file names. */
export interface ServedAccounts {
  readonly accounts: readonly string[];
  /** Real path of the file. */
  readonly settingsFile: string;
}

export interface VendorScan {
  addAccount(accountId: string, now: number): void;
  /** Writes down which accounts a settings file names. @returns those that it names no more since now. */
  serve(served: ServedAccounts, now: number): string[];
  /** Up to some thousand vendors with numbers above `after`, ascending; none means the end. */
  after(accountId: string, after: number): ScannedVendor[];
  count(accountId: string): number;
  /** Numbers of a few active vendors, the youngest. */
  someActive(accountId: string): number[];
  traits(key: Key): VendorTraits | undefined;
  /** Calls a present vendor suspect. Runs inside a transaction. */
  suspect(key: Key): void;
}

export function vendorScan(sqlite: Sqlite): VendorScan {
  const addAccount = statement<{ account_id: string; added_at: string }>(sqlite, (at) =>
    mirrorSql
      .insertInto('accounts')
      .values({ account_id: at('account_id'), added_at: at('added_at'), not_served_since: null, settings_file: null })
      .onConflict((conflict) => conflict.doNothing()),
  );
  const accounts = statement<object, Omit<AccountTable, 'added_at'>>(sqlite, () =>
    mirrorSql.selectFrom('accounts').select(['account_id', 'not_served_since', 'settings_file']).orderBy('account_id'),
  );
  const setServed = statement<Omit<AccountTable, 'added_at'>>(sqlite, (at) =>
    mirrorSql
      .updateTable('accounts')
      .set({ not_served_since: at('not_served_since'), settings_file: at('settings_file') })
      .where('account_id', '=', at('account_id')),
  );
  const after = statement<{ account_id: string; after: number }, ScannedVendor>(sqlite, (at) =>
    mirrorSql
      .selectFrom('vendors')
      .select(['vendorid', 'vis_state', 'presence', 'read_seq', 'held_since_ms'])
      .where('account_id', '=', at('account_id'))
      .where('vendorid', '>', at('after'))
      .orderBy('vendorid')
      .limit(chunk),
  );
  const count = statement<{ account_id: string }, { vendors: number }>(sqlite, (at) =>
    mirrorSql
      .selectFrom('vendors')
      .select((row) => row.fn.countAll<number>().as('vendors'))
      .where('account_id', '=', at('account_id')),
  );
  const active = statement<{ account_id: string }, { vendorid: number }>(sqlite, (at) =>
    mirrorSql
      .selectFrom('vendors')
      .select('vendorid')
      .where('account_id', '=', at('account_id'))
      .where('vis_state', '=', 0)
      .where('presence', '=', 'present')
      .orderBy('vendorid', 'desc')
      .limit(few),
  );
  const suspect = statement<Key>(sqlite, (at) =>
    ofVendor(mirrorSql.updateTable('vendors').set({ presence: 'suspect' }), at).where('presence', '=', 'present'),
  );
  const traits = statement<Key, VendorTraits>(sqlite, (at) =>
    ofVendor(mirrorSql.selectFrom('vendors').select(['vendorid', 'vendor_name', 'created_at']), at),
  );
  return {
    traits: (key) => traits.get(key),
    addAccount: (accountId, now) => void addAccount.run({ account_id: accountId, added_at: timestamp(now) }),
    serve({ accounts: served, settingsFile }, now) {
      const named = new Set(served);
      const left: string[] = [];
      for (const { account_id, not_served_since, settings_file } of accounts.all({})) {
        if (named.has(account_id)) {
          if (not_served_since === null && settings_file === settingsFile) continue;
          setServed.run({ account_id, not_served_since: null, settings_file: settingsFile });
        } else if (not_served_since === null && mayDisown(settings_file, settingsFile)) {
          setServed.run({ account_id, not_served_since: timestamp(now), settings_file: settingsFile });
          left.push(account_id);
        }
      }
      return left;
    },
    after: (accountId, from) => after.all({ account_id: accountId, after: from }),
    count: (accountId) => count.get({ account_id: accountId })?.vendors ?? 0,
    someActive: (accountId) => active.all({ account_id: accountId }).map(({ vendorid }) => vendorid),
    suspect: (key) => void suspect.run(key),
  };
}
