/** Edits with an unknown outcome. A row is on disk before its edit is sent, so that it is known even if the process dies. */
import { sql } from 'kysely';
import { timestamp, type Clock } from '../../domain/clock.ts';
import type { ProcessLock } from '../files/process-lock.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import type { Statement } from '../sqlite/plain-statement.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';
import type { EditTable } from '../tables/write-tables.ts';
import type { Marks } from '../rows/marks.ts';
import type { VendorKey } from '../tables/vendor-tables.ts';
import { ofVendor } from '../vendor/of-vendor.ts';
import type { NewEdit, OpenEdit } from '../records/write-record.ts';

interface OpenEditsParts {
  readonly clock: Pick<Clock, 'now'>;
  readonly marks: Marks;
  readonly process: Pick<ProcessLock, 'name' | 'isAlive'>;
}

export class OpenEdits {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #marks: Marks;
  readonly #process: Pick<ProcessLock, 'name' | 'isAlive'>;
  readonly #add: Statement<Omit<EditTable, 'id'>, { id: number }>;
  readonly #open: Statement<VendorKey, Pick<EditTable, 'fields' | 'sent_at' | 'sent_by' | 'version'> & { id: number }>;
  readonly #byId: Statement<{ id: number }, VendorKey & Pick<EditTable, 'process' | 'generation'>>;
  readonly #remove: Statement<{ id: number }>;
  readonly #latestVersion: Statement<VendorKey, { seq: number }>;
  readonly #versionsSince: Statement<VendorKey & { version: number }, { changed_fields: string }>;
  readonly #generationOf: Statement<VendorKey, { generation: number }>;
  readonly #unmark: Statement<VendorKey & { generation: number }>;

  constructor(sqlite: Sqlite, { clock, marks, process }: OpenEditsParts) {
    this.#clock = clock;
    this.#marks = marks;
    this.#process = process;
    this.#add = statement(sqlite, (at) =>
      mirrorSql
        .insertInto('_edits')
        .values({
          account_id: at('account_id'),
          vendorid: at('vendorid'),
          fields: at('fields'),
          sent_at: at('sent_at'),
          sent_by: at('sent_by'),
          process: at('process'),
          version: at('version'),
          generation: at('generation'),
        })
        .returning('id'),
    );
    this.#open = statement(sqlite, (at) =>
      ofVendor(mirrorSql.selectFrom('_edits').select(['id', 'fields', 'sent_at', 'sent_by', 'version']), at).orderBy(
        'id',
      ),
    );
    this.#byId = statement(sqlite, (at) =>
      mirrorSql
        .selectFrom('_edits')
        .select(['account_id', 'vendorid', 'process', 'generation'])
        .where('id', '=', at('id')),
    );
    this.#remove = statement(sqlite, (at) => mirrorSql.deleteFrom('_edits').where('id', '=', at('id')));
    this.#latestVersion = statement(sqlite, (at) =>
      ofVendor(mirrorSql.selectFrom('_vendor_versions').select('seq'), at).orderBy('seq', 'desc').limit(1),
    );
    this.#versionsSince = statement(sqlite, (at) =>
      ofVendor(mirrorSql.selectFrom('_vendor_versions').select('changed_fields'), at).where('seq', '>', at('version')),
    );
    this.#generationOf = statement(sqlite, (at) =>
      ofVendor(mirrorSql.selectFrom('dirty_vendors').select('generation'), at),
    );
    // A mark that was changed meanwhile stays.
    this.#unmark = statement(sqlite, (at) =>
      ofVendor(mirrorSql.deleteFrom('dirty_vendors'), at)
        .where('generation', '=', at('generation'))
        .where('reason', '=', 'asked')
        .where('attempts', '=', sql<number>`0`),
    );
  }

  /** Records an edit. Runs inside a transaction. @returns its id. */
  begin(accountId: string, { vendorid, fields, by, delay }: NewEdit): number {
    const key: VendorKey = { account_id: accountId, vendorid };
    const added = this.#add.get({
      ...key,
      fields: JSON.stringify(fields),
      sent_at: timestamp(this.#clock.now()),
      sent_by: by,
      process: this.#process.name,
      version: this.#latestVersion.get(key)?.seq ?? 0,
      generation: this.#markFor(key, delay),
    });
    return added?.id ?? 0;
  }

  of(key: VendorKey): OpenEdit[] {
    return this.#open.all(key).map(({ id, fields, sent_at, sent_by, version }) => {
      const versions = this.#versionsSince.all({ ...key, version });
      return {
        id,
        fields: namesIn(fields),
        sentAt: sent_at,
        sentBy: sent_by,
        isUntouched: version > 0 && versions.length === 0,
        changed: [...new Set(versions.flatMap(({ changed_fields }) => namesIn(changed_fields)))],
      };
    });
  }

  /** Removes edits of this process and of dead ones. Runs inside a transaction. */
  end(ids: readonly number[]): void {
    for (const id of ids) {
      const edit = this.#byId.get({ id });
      if (!edit || (edit.process !== this.#process.name && this.#process.isAlive(edit.process))) continue;
      this.#remove.run({ id });
      const { account_id, vendorid, generation } = edit;
      if (generation !== null) this.#unmark.run({ account_id, vendorid, generation });
    }
  }

  #markFor(key: VendorKey, delay: number): number | null {
    const isMarked = this.#generationOf.get(key) !== undefined;
    this.#marks.add([key], 'asked', delay);
    return isMarked ? null : (this.#generationOf.get(key)?.generation ?? null);
  }
}

const namesIn = (json: string): string[] => JSON.parse(json) as string[];
