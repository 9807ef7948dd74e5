/**
 * Edits that are about to be sent, until it is known what became of them. A row is on disk before its edit leaves, so that whoever comes
 * after a process that died in between knows of it.
 */
import { sql } from 'kysely';
import { timestamp, type Clock } from '../../domain/clock.ts';
import type { ProcessLock } from '../files/process-lock.ts';
import type { Sqlite } from '../sqlite/driver.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';
import type { EditTable } from '../tables/write-tables.ts';
import type { Marks } from '../rows/marks.ts';
import { ofVendor, type Key } from '../rows/stored-vendor.ts';
import type { NewEdit, OpenEdit } from '../records/write-record.ts';

export interface OpenEdits {
  /** Runs inside a transaction. @returns the number of the edit. */
  begin(accountId: string, edit: NewEdit): number;
  of(key: Key): OpenEdit[];
  /** Ends edits of this process and of dead ones. Runs inside a transaction. */
  end(ids: readonly number[]): void;
}

interface OpenEditsParts {
  readonly clock: Pick<Clock, 'now'>;
  readonly marks: Marks;
  readonly process: Pick<ProcessLock, 'name' | 'isAlive'>;
}

export function openEdits(sqlite: Sqlite, { clock, marks, process }: OpenEditsParts): OpenEdits {
  const add = statement<Omit<EditTable, 'id'>, { id: number }>(sqlite, (at) =>
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
  const open = statement<Key, Pick<EditTable, 'fields' | 'sent_at' | 'sent_by' | 'version'> & { id: number }>(
    sqlite,
    (at) =>
      ofVendor(mirrorSql.selectFrom('_edits').select(['id', 'fields', 'sent_at', 'sent_by', 'version']), at).orderBy(
        'id',
      ),
  );
  const byId = statement<{ id: number }, Key & Pick<EditTable, 'process' | 'generation'>>(sqlite, (at) =>
    mirrorSql
      .selectFrom('_edits')
      .select(['account_id', 'vendorid', 'process', 'generation'])
      .where('id', '=', at('id')),
  );
  const remove = statement<{ id: number }>(sqlite, (at) => mirrorSql.deleteFrom('_edits').where('id', '=', at('id')));
  const latestVersion = statement<Key, { seq: number }>(sqlite, (at) =>
    ofVendor(mirrorSql.selectFrom('_vendor_versions').select('seq'), at).orderBy('seq', 'desc').limit(1),
  );
  const versionsSince = statement<Key & { version: number }, { changed_fields: string }>(sqlite, (at) =>
    ofVendor(mirrorSql.selectFrom('_vendor_versions').select('changed_fields'), at).where('seq', '>', at('version')),
  );
  const generationOf = statement<Key, { generation: number }>(sqlite, (at) =>
    ofVendor(mirrorSql.selectFrom('dirty_vendors').select('generation'), at),
  );
  // Whatever was made of the mark meanwhile stays.
  const unmark = statement<Key & { generation: number }>(sqlite, (at) =>
    ofVendor(mirrorSql.deleteFrom('dirty_vendors'), at)
      .where('generation', '=', at('generation'))
      .where('reason', '=', 'asked')
      .where('attempts', '=', sql<number>`0`),
  );

  const markFor = (key: Key, delay: number): number | null => {
    const isMarked = generationOf.get(key) !== undefined;
    marks.add([key], 'asked', delay);
    return isMarked ? null : (generationOf.get(key)?.generation ?? null);
  };

  return {
    begin(accountId, { vendorid, fields, by, delay }) {
      const key: Key = { account_id: accountId, vendorid };
      const added = add.get({
        ...key,
        fields: JSON.stringify(fields),
        sent_at: timestamp(clock.now()),
        sent_by: by,
        process: process.name,
        version: latestVersion.get(key)?.seq ?? 0,
        generation: markFor(key, delay),
      });
      return added?.id ?? 0;
    },
    of: (key) =>
      open.all(key).map(({ id, fields, sent_at, sent_by, version }) => {
        const versions = versionsSince.all({ ...key, version });
        return {
          id,
          fields: namesIn(fields),
          sentAt: sent_at,
          sentBy: sent_by,
          isUntouched: version > 0 && versions.length === 0,
          changed: [...new Set(versions.flatMap(({ changed_fields }) => namesIn(changed_fields)))],
        };
      }),
    end(ids) {
      for (const id of ids) {
        const edit = byId.get({ id });
        if (!edit || (edit.process !== process.name && process.isAlive(edit.process))) continue;
        remove.run({ id });
        const { account_id, vendorid, generation } = edit;
        if (generation !== null) unmark.run({ account_id, vendorid, generation });
      }
    },
  };
}

const namesIn = (json: string): string[] => JSON.parse(json) as string[];
