/** The identity of a mirror, and the service it belongs to. */
import { timestamp, type Clock } from '../../domain/clock.ts';
import { connectReader, type Sqlite } from '../sqlite/driver.ts';
import { isBusy } from '../sqlite/sqlite-errors.ts';
import { plainStatement, type None, type Statement } from '../sqlite/plain-statement.ts';
import { mirrorSql, statement } from '../sqlite/statement.ts';
import type { IdentityTable } from '../tables/mirror-tables.ts';
import type { Identity } from '../records/identity-record.ts';

export class IdentityRow {
  readonly #clock: Clock;
  readonly #find: Statement<None, Pick<IdentityTable, 'mirror_id' | 'service'>>;
  readonly #change: Statement<{ service: string; now: string }>;

  constructor(sqlite: Sqlite, clock: Clock) {
    this.#clock = clock;
    this.#find = statement(sqlite, () => mirrorSql.selectFrom('mirror_identity').select(['mirror_id', 'service']));
    this.#change = statement(sqlite, (at) =>
      mirrorSql.updateTable('mirror_identity').set({ service: at('service'), service_since: at('now') }),
    );
  }

  read(): Identity {
    const row = this.#find.get({});
    if (!row) throw new Error('The mirror has no identity.');
    return { mirrorId: row.mirror_id, service: row.service };
  }

  /** Binds the mirror to a service, unless it is bound. @returns whether it was not bound before. */
  adopt(service: string): boolean {
    const isNew = this.read().service === null;
    if (isNew) this.accept(service);
    return isNew;
  }

  /** Binds the mirror to a service, replacing any other. */
  accept(service: string): void {
    this.#change.run({ service, now: timestamp(this.#clock.now()) });
  }
}

/** Whether the mirror with this identity is at `path`; a locked file counts as yes. */
export function isMirrorAt(path: string, mirrorId: string): boolean {
  let sqlite: Sqlite | undefined;
  try {
    sqlite = connectReader(path);
    const find = plainStatement<None, Pick<IdentityTable, 'mirror_id'>>(
      sqlite,
      'SELECT mirror_id FROM mirror_identity',
    );
    return find.get({})?.mirror_id === mirrorId;
  } catch (error) {
    return isBusy(error);
  } finally {
    sqlite?.close();
  }
}
