/** What writes to the service need of the mirror: vendors as it holds them, and writes whose outcome is open. */
import { sql } from 'kysely';
import { timestamp, type Clock } from '../../domain/clock.ts';
import type { Database } from '../sqlite/database.ts';
import { children } from '../rows/stored-vendor.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';
import type { CreationTable } from '../tables/write-tables.ts';
import { vendorRows } from '../rows/vendor-rows.ts';
import { openEdits } from './open-edits.ts';
import type { ProcessLock } from '../files/process-lock.ts';
import type { Marks } from '../rows/marks.ts';
import type { NewEdit, OpenEdit, StoredVendor, OpenCreation } from '../records/write-record.ts';

export interface WriteTransactions {
  /** A vendor as the mirror holds it; undefined where it never showed. */
  storedVendor(accountId: string, vendorid: number): Promise<StoredVendor | undefined>;
  /** Numbers of the vendors of a name that the mirror holds. */
  vendorsNamed(accountId: string, name: string): Promise<number[]>;
  /** Writes down that a vendor of that name is about to be created; on disk when this resolves. An older one of the name is forgotten. */
  beginCreation(accountId: string, name: string, by: string | null): Promise<void>;
  openCreation(accountId: string, name: string): Promise<OpenCreation | undefined>;
  /** It is known what became of the creation. */
  endCreation(accountId: string, name: string): Promise<void>;
  /**
   * Writes down that a vendor is about to be edited, and marks it to be read after `delay` milliseconds; on disk when this resolves.
   * @returns the number of the edit.
   */
  beginEdit(accountId: string, edit: NewEdit): Promise<number>;
  /** Edits of a vendor of which nobody knows whether they were carried out, the oldest first. */
  openEdits(accountId: string, vendorid: number): Promise<OpenEdit[]>;
  /** It is known what became of the edits. Those that another process has under way stay. */
  endEdits(ids: readonly number[]): Promise<void>;
}

export interface WriteParts {
  readonly clock: Pick<Clock, 'now'>;
  readonly marks: Marks;
  readonly process: Pick<ProcessLock, 'name' | 'isAlive'>;
}

interface Named {
  readonly account_id: string;
  readonly vendor_name: string;
}

export function writeTransactions(database: Database, { clock, marks, process }: WriteParts): WriteTransactions {
  const { sqlite } = database;
  const edits = openEdits(sqlite, { clock, marks, process });
  const rows = vendorRows(sqlite);
  const childRows = children(sqlite);
  const named = statement<Named, { vendorid: number }>(sqlite, (at) =>
    mirrorSql
      .selectFrom('vendors')
      .select('vendorid')
      .where('account_id', '=', at('account_id'))
      .where(sql<string>`trim(vendor_name)`, '=', at('vendor_name'))
      .orderBy('vendorid'),
  );
  const begin = statement<CreationTable>(sqlite, (at) =>
    mirrorSql.replaceInto('_creations').values({
      account_id: at('account_id'),
      vendor_name: at('vendor_name'),
      sent_at: at('sent_at'),
      known: at('known'),
      sent_by: at('sent_by'),
    }),
  );
  const open = statement<Named, Pick<CreationTable, 'sent_at' | 'known' | 'sent_by'>>(sqlite, (at) =>
    mirrorSql
      .selectFrom('_creations')
      .select(['sent_at', 'known', 'sent_by'])
      .where('account_id', '=', at('account_id'))
      .where('vendor_name', '=', at('vendor_name')),
  );
  const end = statement<Named>(sqlite, (at) =>
    mirrorSql
      .deleteFrom('_creations')
      .where('account_id', '=', at('account_id'))
      .where('vendor_name', '=', at('vendor_name')),
  );
  const key = (account_id: string, name: string): Named => ({
    account_id,
    vendor_name: name.replaceAll('\0', '').replace(/^ +| +$/g, ''),
  });
  const ofName = (at: Named): number[] => named.all(at).map(({ vendorid }) => vendorid);
  return {
    storedVendor: (accountId, vendorid) =>
      database.read(() => {
        const row = rows.find({ account_id: accountId, vendorid });
        return row && { vendor: childRows.vendorOf(row), presence: row.presence };
      }),
    vendorsNamed: (accountId, name) => database.read(() => ofName(key(accountId, name))),
    beginCreation: (accountId, name, by) =>
      database.write(() => {
        const at = key(accountId, name);
        begin.run({ ...at, sent_at: timestamp(clock.now()), known: JSON.stringify(ofName(at)), sent_by: by });
      }),
    openCreation: (accountId, name) =>
      database.read(() => {
        const row = open.get(key(accountId, name));
        return row && { sentAt: row.sent_at, sentBy: row.sent_by, known: JSON.parse(row.known) as number[] };
      }),
    endCreation: (accountId, name) =>
      database.write(() => {
        end.run(key(accountId, name));
      }),
    beginEdit: (accountId, edit) => database.write(() => edits.begin(accountId, edit)),
    openEdits: (accountId, vendorid) => database.read(() => edits.of({ account_id: accountId, vendorid })),
    endEdits: (ids) => database.write(() => edits.end(ids)),
  };
}
