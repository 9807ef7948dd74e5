/** What writes to the service need: stored vendors, and writes with an unknown outcome. */
import { sql } from 'kysely';
import { timestamp, type Clock } from '../../domain/clock.ts';
import type { Database } from '../sqlite/database.ts';
import { ChildRows } from '../vendor/child-rows.ts';
import type { Statement } from '../sqlite/plain-statement.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';
import type { CreationTable } from '../tables/write-tables.ts';
import { VendorRows } from '../rows/vendor-rows.ts';
import { OpenEdits } from './open-edits.ts';
import type { ProcessLock } from '../files/process-lock.ts';
import type { Marks } from '../rows/marks.ts';
import type { NewEdit, OpenEdit, StoredVendor, OpenCreation } from '../records/write-record.ts';
import type { Writes } from '../areas/areas.ts';

export interface WriteParts {
  readonly clock: Pick<Clock, 'now'>;
  readonly marks: Marks;
  readonly process: Pick<ProcessLock, 'name' | 'isAlive'>;
}

interface Named {
  readonly account_id: string;
  readonly vendor_name: string;
}

export class SqliteWrites implements Writes {
  readonly #database: Database;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #edits: OpenEdits;
  readonly #rows: VendorRows;
  readonly #childRows: ChildRows;
  readonly #named: Statement<Named, { vendorid: number }>;
  readonly #begin: Statement<CreationTable>;
  readonly #open: Statement<Named, Pick<CreationTable, 'sent_at' | 'known' | 'sent_by'>>;
  readonly #end: Statement<Named>;

  constructor(database: Database, { clock, marks, process }: WriteParts) {
    this.#database = database;
    this.#clock = clock;
    const { sqlite } = database;
    this.#edits = new OpenEdits(sqlite, { clock, marks, process });
    this.#rows = new VendorRows(sqlite);
    this.#childRows = new ChildRows(sqlite);
    this.#named = statement(sqlite, (at) =>
      mirrorSql
        .selectFrom('vendors')
        .select('vendorid')
        .where('account_id', '=', at('account_id'))
        .where(sql<string>`trim(vendor_name)`, '=', at('vendor_name'))
        .orderBy('vendorid'),
    );
    this.#begin = statement(sqlite, (at) =>
      mirrorSql.replaceInto('_creations').values({
        account_id: at('account_id'),
        vendor_name: at('vendor_name'),
        sent_at: at('sent_at'),
        known: at('known'),
        sent_by: at('sent_by'),
      }),
    );
    this.#open = statement(sqlite, (at) =>
      mirrorSql
        .selectFrom('_creations')
        .select(['sent_at', 'known', 'sent_by'])
        .where('account_id', '=', at('account_id'))
        .where('vendor_name', '=', at('vendor_name')),
    );
    this.#end = statement(sqlite, (at) =>
      mirrorSql
        .deleteFrom('_creations')
        .where('account_id', '=', at('account_id'))
        .where('vendor_name', '=', at('vendor_name')),
    );
  }

  storedVendor(accountId: string, vendorid: number): Promise<StoredVendor | undefined> {
    return this.#database.read(() => {
      const row = this.#rows.find({ account_id: accountId, vendorid });
      return row && { vendor: this.#childRows.vendorOf(row), presence: row.presence };
    });
  }

  vendorsNamed(accountId: string, name: string): Promise<number[]> {
    return this.#database.read(() => this.#ofName(this.#key(accountId, name)));
  }

  beginCreation(accountId: string, name: string, by: string | null): Promise<void> {
    return this.#database.write(() => {
      const at = this.#key(accountId, name);
      this.#begin.run({
        ...at,
        sent_at: timestamp(this.#clock.now()),
        known: JSON.stringify(this.#ofName(at)),
        sent_by: by,
      });
    });
  }

  openCreation(accountId: string, name: string): Promise<OpenCreation | undefined> {
    return this.#database.read(() => {
      const row = this.#open.get(this.#key(accountId, name));
      return row && { sentAt: row.sent_at, sentBy: row.sent_by, known: JSON.parse(row.known) as number[] };
    });
  }

  endCreation(accountId: string, name: string): Promise<void> {
    return this.#database.write(() => {
      this.#end.run(this.#key(accountId, name));
    });
  }

  beginEdit(accountId: string, edit: NewEdit): Promise<number> {
    return this.#database.write(() => this.#edits.begin(accountId, edit));
  }

  openEdits(accountId: string, vendorid: number): Promise<OpenEdit[]> {
    return this.#database.read(() => this.#edits.of({ account_id: accountId, vendorid }));
  }

  endEdits(ids: readonly number[]): Promise<void> {
    return this.#database.write(() => this.#edits.end(ids));
  }

  #key(account_id: string, name: string): Named {
    return {
      account_id,
      vendor_name: name.replaceAll('\0', '').replace(/^ +| +$/g, ''),
    };
  }

  #ofName(at: Named): number[] {
    return this.#named.all(at).map(({ vendorid }) => vendorid);
  }
}
