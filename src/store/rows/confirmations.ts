/**
 * Pages that showed vendors unchanged write no vendor row. What they saw stands here for a while, so that an older reading,
 * still under way while such a page was applied, cannot pass it.
 */
import { sql } from 'kysely';
import type { Sqlite } from '../sqlite/driver.ts';
import type { Key } from './stored-vendor.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';

/** More readings than can be under way at once; what is older can have nothing left to pass. */
const kept = 10_000;

export interface Confirmations {
  add(accountId: string, readSeq: number, vendorids: readonly number[]): void;
  /** Whether a page with a higher number than `readSeq` showed the vendor as we hold it. */
  passed(key: Key, readSeq: number): boolean;
}

export function pageConfirmations(sqlite: Sqlite): Confirmations {
  const insert = statement<{ read_seq: number; account_id: string; vendorids: string }>(sqlite, (at) =>
    mirrorSql
      .insertInto('page_confirmations')
      .values({ read_seq: at('read_seq'), account_id: at('account_id'), vendorids: at('vendorids') }),
  );
  const prune = statement<{ read_seq: number }>(sqlite, (at) =>
    mirrorSql.deleteFrom('page_confirmations').where('read_seq', '<', at('read_seq')),
  );
  const later = statement<Key & { read_seq: number }, { read_seq: number }>(sqlite, (at) =>
    mirrorSql
      .selectFrom('page_confirmations')
      .select('read_seq')
      .where('account_id', '=', at('account_id'))
      .where('read_seq', '>', at('read_seq'))
      .where(sql<boolean>`${at('vendorid')} IN (SELECT value FROM json_each(vendorids))`)
      .limit(1),
  );
  return {
    add(accountId, readSeq, vendorids) {
      prune.run({ read_seq: readSeq - kept });
      insert.run({ read_seq: readSeq, account_id: accountId, vendorids: JSON.stringify(vendorids) });
    },
    passed: (key, readSeq) => later.get({ ...key, read_seq: readSeq }) !== undefined,
  };
}
