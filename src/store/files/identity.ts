/** Which file a mirror is, and whose vendors it holds. */
import { timestamp, type Clock } from '../../domain/clock.ts';
import { connectReader, type Sqlite } from '../sqlite/driver.ts';
import { isBusy } from '../sqlite/sqlite-errors.ts';
import { plainStatement, type None } from '../sqlite/plain-statement.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';
import type { IdentityTable } from '../tables/mirror-tables.ts';
import type { Identity } from '../records/identity-record.ts';

export interface IdentityRow {
  read(): Identity;
  /** The mirror belongs to this service, unless it already belongs to one. @returns whether it did not. */
  adopt(service: string): boolean;
  /** The mirror belongs to this service, whatever it belonged to. */
  accept(service: string): void;
}

export function identityRow(sqlite: Sqlite, clock: Clock): IdentityRow {
  const look = statement<object, Pick<IdentityTable, 'mirror_id' | 'service'>>(sqlite, () =>
    mirrorSql.selectFrom('mirror_identity').select(['mirror_id', 'service']),
  );
  const accept = statement<{ service: string; now: string }>(sqlite, (at) =>
    mirrorSql.updateTable('mirror_identity').set({ service: at('service'), service_since: at('now') }),
  );
  const read = (): Identity => {
    const row = look.get({});
    if (!row) throw new Error('The mirror has no identity.');
    return { mirrorId: row.mirror_id, service: row.service };
  };
  const change = (service: string): void => void accept.run({ service, now: timestamp(clock.now()) });
  return {
    read,
    adopt(service) {
      const isNew = read().service === null;
      if (isNew) change(service);
      return isNew;
    },
    accept: change,
  };
}

/** Whether the mirror of this identity is at `path`; a file that is locked just now counts as it. */
export function isMirrorAt(path: string, mirrorId: string): boolean {
  let sqlite: Sqlite | undefined;
  try {
    sqlite = connectReader(path);
    const look = plainStatement<None, Pick<IdentityTable, 'mirror_id'>>(
      sqlite,
      'SELECT mirror_id FROM mirror_identity',
    );
    return look.get({})?.mirror_id === mirrorId;
  } catch (error) {
    return isBusy(error);
  } finally {
    sqlite?.close();
  }
}
