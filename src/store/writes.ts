/** What writes to the service need: stored vendors, and writes with an unknown outcome. */
import { inOrder } from '../domain/concurrency.ts';
import type { Presence } from '../domain/presence.ts';
import { sql, type RawBuilder } from 'kysely';
import { timestamp, type Clock } from '../domain/clock.ts';
import type { Vendor } from '../domain/vendor.ts';
import type { ProcessLock } from '../domain/processes.ts';
import type { Marks } from './marks.ts';
import { Transacted, type Database } from './sql/database.ts';
import {
  columns,
  mirrorSql,
  statement,
  numbersIn,
  Operations,
  type Connection,
  type At,
  type None,
} from './sql/statement.ts';
import type { CreationTable, EditTable, VendorKey } from './sql/schema.ts';
import { ChildRows, VendorRows } from './vendors.ts';

interface NewEdit {
  readonly vendorid: number;
  /** Names of the fields that are set. */
  readonly fields: readonly string[];
  /** The user's name on this machine, where known. */
  readonly by: string | null;
  /** Milliseconds after which the vendor is read, if the outcome is not known by then. */
  readonly delay: number;
}

/** An edit with an unknown outcome. */
export interface OpenEdit {
  readonly id: number;
  readonly fields: readonly string[];
  /** Timestamp of ours. */
  readonly sentAt: string;
  readonly sentBy: string | null;
  /** Whether the vendor was stored then, and has not changed since. */
  readonly isUntouched: boolean;
  /** Names of the fields that changed since. */
  readonly changed: readonly string[];
}

interface StoredVendor {
  readonly vendor: Vendor;
  readonly presence: Presence;
}

/** A creation with an unknown outcome. */
export interface OpenCreation {
  /** Timestamp of ours. */
  readonly sentAt: string;
  /** The user who sent it, where known. */
  readonly sentBy: string | null;
  /** Ids of the vendors that were first stored since, and may be the created one. */
  readonly newSince: readonly number[];
}

interface WriteParts {
  readonly clock: Clock;
  readonly marks: Marks;
  readonly process: Pick<ProcessLock, 'name' | 'isAlive'>;
}

interface Named {
  readonly account_id: string;
  readonly vendor_name: string;
}

const ofCreation = ['sent_at', 'known', 'sent_by', 'version'] as const;

const isNamed = (at: At<Named>): RawBuilder<unknown> =>
  sql`account_id = ${at('account_id')} AND vendor_name = ${at('vendor_name')}`;

export class Writes extends Transacted {
  readonly #edits: OpenEdits;
  readonly #rows: VendorRows;
  readonly #childRows: ChildRows;
  readonly #newSince = statement<{ account_id: string; version: number; known: string }, { vendorid: number }>(
    this.db,
    (at) => sql`
        SELECT DISTINCT vendorid FROM _vendor_versions fresh WHERE account_id = ${at('account_id')} AND seq > ${at('version')}
          AND vendorid NOT IN ${numbersIn(at('known'))}
          AND NOT EXISTS (SELECT 1 FROM _vendor_versions old
            WHERE old.account_id = fresh.account_id AND old.vendorid = fresh.vendorid AND old.seq <= ${at('version')})
        ORDER BY vendorid`,
  );
  readonly #latest = statement(this.db)<None, { version: number | null }>`
    SELECT max(seq) AS version FROM _vendor_versions`;
  readonly #begin = statement<CreationTable>(this.db, (at) =>
    mirrorSql
      .insertInto('_creations')
      .values(columns(at, ['account_id', 'vendor_name', ...ofCreation]))
      .onConflict((conflict) => conflict.columns(['account_id', 'vendor_name']).doUpdateSet(columns(at, ofCreation))),
  );
  readonly #open = statement<Named, Omit<CreationTable, keyof Named>>(
    this.db,
    (at) => sql`SELECT sent_at, known, sent_by, version FROM _creations WHERE ${isNamed(at)}`,
  );
  readonly #end = statement<Named>(this.db, (at) => sql`DELETE FROM _creations WHERE ${isNamed(at)}`);

  constructor(database: Database, { clock, marks, process }: WriteParts) {
    super(database, clock);
    const { connection: db } = database;
    this.#edits = new OpenEdits(db, { clock, marks, process });
    this.#rows = new VendorRows(db);
    this.#childRows = new ChildRows(db);
  }

  /** A stored vendor; undefined where it was never seen. */
  storedVendor(accountId: string, vendorid: number): Promise<StoredVendor | undefined> {
    return this.database.read(async () => {
      const row = await this.#rows.find({ account_id: accountId, vendorid });
      return row && { vendor: await this.#childRows.vendorOf(row), presence: row.presence };
    });
  }

  /** Records a creation before it is sent; on disk when this resolves. Replaces an earlier one of the same name. */
  beginCreation(accountId: string, name: string, by: string | null): Promise<void> {
    return this.database.write(async () => {
      const at = this.#key(accountId, name);
      this.#begin.send({
        ...at,
        sent_at: timestamp(this.clock.now()),
        known: '[]',
        sent_by: by,
        version: (await this.#latest.get({}))?.version ?? 0,
      });
    });
  }

  openCreation(accountId: string, name: string): Promise<OpenCreation | undefined> {
    return this.database.read(async () => {
      const row = await this.#open.get(this.#key(accountId, name));
      if (!row) return undefined;
      const { sent_at, sent_by, known, version } = row;
      const fresh = await this.#newSince.all({ account_id: accountId, version: version ?? 0, known });
      return { sentAt: sent_at, sentBy: sent_by, newSince: fresh.map(({ vendorid }) => vendorid) };
    });
  }

  endCreation(accountId: string, name: string): Promise<void> {
    return this.database.write(() => {
      this.#end.send(this.#key(accountId, name));
    });
  }

  /**
   * Records an edit before it is sent, and marks the vendor to be read after `delay` milliseconds; on disk when this resolves.
   * @returns the id of the edit.
   */
  beginEdit(accountId: string, edit: NewEdit): Promise<number> {
    return this.database.write(() => this.#edits.begin(accountId, edit));
  }

  /** Edits of a vendor with an unknown outcome, the oldest first. */
  openEdits(accountId: string, vendorid: number): Promise<OpenEdit[]> {
    return this.database.read(() => this.#edits.of({ account_id: accountId, vendorid }));
  }

  /** Removes edits whose outcome is known, except those of other running processes. */
  endEdits(ids: readonly number[]): Promise<void> {
    return this.database.write(() => this.#edits.end(ids));
  }

  #key(account_id: string, name: string): Named {
    return {
      account_id,
      vendor_name: name.replaceAll('\0', '').replace(/^ +| +$/g, ''),
    };
  }
}

const edited = ['account_id', 'vendorid', 'fields', 'sent_at', 'sent_by', 'process', 'version', 'generation'] as const;

/** Edits with an unknown outcome. A row is on disk before its edit is sent, so that it is known even if the process dies. */
class OpenEdits extends Operations {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #marks: Marks;
  readonly #process: Pick<ProcessLock, 'name' | 'isAlive'>;
  readonly #add = statement<Omit<EditTable, 'id'>, { id: number }>(this.db, (at) =>
    mirrorSql.insertInto('_edits').values(columns(at, edited)).returning('id'),
  );
  readonly #open = statement(this.db)<
    VendorKey,
    Pick<EditTable, 'fields' | 'sent_at' | 'sent_by' | 'version'> & { id: number }
  >`
    SELECT id, fields, sent_at, sent_by, version FROM _edits WHERE account_id = ${'account_id'} AND vendorid = ${'vendorid'} ORDER BY id`;
  readonly #byId = statement(this.db)<{ id: number }, VendorKey & Pick<EditTable, 'process' | 'generation'>>`
    SELECT account_id, vendorid, process, generation FROM _edits WHERE id = ${'id'}`;
  readonly #remove = statement(this.db)<{ id: number }>`DELETE FROM _edits WHERE id = ${'id'}`;
  readonly #latestVersion = statement(this.db)<VendorKey, { seq: number }>`
    SELECT seq FROM _vendor_versions WHERE account_id = ${'account_id'} AND vendorid = ${'vendorid'} ORDER BY seq DESC LIMIT 1`;
  readonly #versionsSince = statement(this.db)<VendorKey & { version: number }, { changed_fields: string }>`
    SELECT changed_fields FROM _vendor_versions WHERE account_id = ${'account_id'} AND vendorid = ${'vendorid'} AND seq > ${'version'}`;
  readonly #generationOf = statement(this.db)<VendorKey, { generation: number }>`
    SELECT generation FROM dirty_vendors WHERE account_id = ${'account_id'} AND vendorid = ${'vendorid'}`;
  // A mark that was changed meanwhile stays.
  readonly #unmark = statement(this.db)<VendorKey & { generation: number }>`
    DELETE FROM dirty_vendors
    WHERE account_id = ${'account_id'} AND vendorid = ${'vendorid'} AND generation = ${'generation'} AND reason = 'asked' AND attempts = 0`;

  constructor(db: Connection, { clock, marks, process }: WriteParts) {
    super(db);
    this.#clock = clock;
    this.#marks = marks;
    this.#process = process;
  }

  /** Records an edit. Runs inside a transaction. @returns its id. */
  async begin(accountId: string, { vendorid, fields, by, delay }: NewEdit): Promise<number> {
    const key: VendorKey = { account_id: accountId, vendorid };
    const added = await this.#add.get({
      ...key,
      fields: JSON.stringify(fields),
      sent_at: timestamp(this.#clock.now()),
      sent_by: by,
      process: this.#process.name,
      version: (await this.#latestVersion.get(key))?.seq ?? 0,
      generation: await this.#markFor(key, delay),
    });
    return added?.id ?? 0;
  }

  async of(key: VendorKey): Promise<OpenEdit[]> {
    return inOrder(await this.#open.all(key), async ({ id, fields, sent_at, sent_by, version }) => {
      const versions = await this.#versionsSince.all({ ...key, version });
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
  async end(ids: readonly number[]): Promise<void> {
    for (const id of ids) {
      const edit = await this.#byId.get({ id });
      if (!edit || (edit.process !== this.#process.name && (await this.#process.isAlive(edit.process)))) continue;
      this.#remove.send({ id });
      const { account_id, vendorid, generation } = edit;
      if (generation !== null) this.#unmark.send({ account_id, vendorid, generation });
    }
  }

  async #markFor(key: VendorKey, delay: number): Promise<number | null> {
    const isMarked = (await this.#generationOf.get(key)) !== undefined;
    await this.#marks.add([key], 'asked', delay);
    return isMarked ? null : ((await this.#generationOf.get(key))?.generation ?? null);
  }
}

const namesIn = (json: string): string[] => JSON.parse(json) as string[];
