/** Findings: one row for each difference that a sweep found and no delivery had announced. */
import { sql } from 'kysely';
import { parseInstant, timestamp } from '../domain/clock.ts';
import type { OpenDelivery } from './deliveries.ts';
import type { Run } from './runs.ts';
import { shortLockWait, Transacted } from './sql/database.ts';
import type { FindingKind, FindingTable, VendorKey } from './sql/schema.ts';
import { expiringBy } from './retention.ts';
import { statement, type Connection, type Statement } from './sql/statement.ts';
import { holdsValue, unreadableCounts, type UnreadableCount } from './vendors.ts';

export interface Finding {
  readonly kind: FindingKind;
  readonly vendorid: number | null;
  /** Names of fields, or details of the finding; stored as JSON. */
  readonly fields: readonly string[] | Readonly<Record<string, unknown>>;
}

/** Fields that the records of a sweep showed. */
export interface ObservedFields {
  readonly names: readonly string[];
  /** Every record was parsed; those that equal the stored text are not. */
  readonly whole: boolean;
  /** Excluded fields, which neither appear nor disappear. */
  readonly excluded: readonly string[];
}

export class Findings extends Transacted {
  readonly #insert = statement(this.db)<Omit<FindingTable, 'id' | 'explained_at' | 'explanation'>>`
    INSERT INTO findings (run_id, account_id, vendorid, kind, fields, found_at)
    VALUES (${'run_id'}, ${'account_id'}, ${'vendorid'}, ${'kind'}, ${'fields'}, ${'found_at'})`;
  readonly #known = statement(this.db)<{ account_id: string }, { field: string }>`
    SELECT field FROM _known_fields WHERE account_id = ${'account_id'}`;
  readonly #learn = statement(this.db)<{ account_id: string; field: string; first_seen_at: string }>`
    INSERT INTO _known_fields (account_id, field, first_seen_at)
    VALUES (${'account_id'}, ${'field'}, ${'first_seen_at'}) ON CONFLICT DO NOTHING`;
  readonly #forget = statement(this.db)<{ account_id: string; field: string }>`
    DELETE FROM _known_fields WHERE account_id = ${'account_id'} AND field = ${'field'}`;
  readonly #open = statement(this.db)<VendorKey, { id: number; found_at: string }>`
    SELECT id, found_at FROM findings
    WHERE account_id = ${'account_id'} AND vendorid = ${'vendorid'} AND explained_at IS NULL
      AND kind IN ('missed_create', 'missed_update', 'missed_delete', 'missed_restore', 'in_flight')
    ORDER BY id`;
  readonly #close = statement(this.db)<{ id: number; explained_at: string; explanation: string }>`
    UPDATE findings SET explained_at = ${'explained_at'}, explanation = ${'explanation'} WHERE id = ${'id'}`;
  readonly #promote = statement(this.db)<{ account_id: string; found_at: string }>`
    UPDATE findings SET kind = json_extract(fields, '$.kind'), fields = json_extract(fields, '$.changed')
    WHERE account_id = ${'account_id'} AND kind = 'in_flight' AND explained_at IS NULL AND found_at < ${'found_at'}`;
  readonly #counts = findingCounts(this.db);
  readonly #openUnreadable = statement(this.db)<{ account_id: string }, UnreadableCount & { id: number }>`
    SELECT id, json_extract(fields, '$.field') AS field, CAST(json_extract(fields, '$.vendors') AS INTEGER) AS vendors FROM findings
    WHERE account_id = ${'account_id'} AND vendorid IS NULL AND explained_at IS NULL AND kind = 'unreadable_value'`;
  readonly #unreadable = unreadableCounts(this.db);
  readonly #unsent = unsentFields(this.db);
  readonly #sentAgain = statement(this.db)<{
    account_id: string;
    field: string;
    explained_at: string;
    explanation: string;
  }>`
    UPDATE findings SET explained_at = ${'explained_at'}, explanation = ${'explanation'}
    WHERE account_id = ${'account_id'} AND ${isUnsent} AND json_extract(fields, '$.unsent') = ${'field'}`;
  readonly #isHeld = statement<{ account_id: string; path: string }, { vendorid: number }>(
    this.db,
    (at) => sql`
        SELECT vendorid FROM vendors
        WHERE account_id = ${at('account_id')} AND presence IN ('present', 'suspect')
          AND ${holdsValue(at('path'))}
        LIMIT 1`,
  );

  addFindings(run: Run, findings: readonly Finding[]): Promise<void> {
    return this.database.write(() => {
      for (const finding of findings) this.add(run.id, run.accountId, finding);
    });
  }

  countFindings(run: Pick<Run, 'id'>): Promise<FindingCount[]> {
    return this.database.read(() => this.#counts.all({ run_id: run.id }));
  }

  /** Runs inside a transaction. */
  add(runId: number, accountId: string, { kind, vendorid, fields }: Finding): void {
    this.#insert.send({
      run_id: runId,
      account_id: accountId,
      vendorid,
      kind,
      fields: JSON.stringify(fields),
      found_at: timestamp(this.clock.now()),
    });
  }

  /** Marks open findings of a vendor as explained by deliveries that came later, one by one. Runs inside a transaction. */
  async explainBy(key: VendorKey, deliveries: readonly OpenDelivery[]): Promise<void> {
    const left = await this.#open.all(key);
    for (const { received_at } of deliveries) {
      const receivedAt = parseInstant(received_at) ?? 0;
      // The delivery may have come before, and waited for its commit during the sweep.
      const index = left.findIndex(({ found_at }) => (parseInstant(found_at) ?? 0) <= receivedAt + shortLockWait);
      const [finding] = index < 0 ? [] : left.splice(index, 1);
      if (!finding) continue;
      const late = Math.max(0, receivedAt - (parseInstant(finding.found_at) ?? 0)) / 1_000;
      const explanation = `A delivery came ${late.toFixed(1)} s after the sweep found the change.`;
      const explained_at = late > 0 ? received_at : finding.found_at;
      this.#close.send({ id: finding.id, explained_at, explanation });
    }
  }

  /** Turns `in_flight` findings from before `foundBefore` (milliseconds since 1970) into missed changes. */
  promoteFindings(accountId: string, foundBefore: number): Promise<void> {
    return this.database.write(() => {
      this.#promote.send({ account_id: accountId, found_at: timestamp(foundBefore) });
    });
  }

  /**
   * Records of how many vendors a field could not be read: one open finding for each field, until the number changes. Runs inside a
   * transaction.
   */
  async reportUnreadable({ id, accountId }: Run): Promise<void> {
    const now = new Map((await this.#unreadable.all({ accountId })).map(({ field, vendors }) => [field, vendors]));
    const explained_at = timestamp(this.clock.now());
    for (const open of await this.#openUnreadable.all({ account_id: accountId })) {
      const vendors = now.get(open.field) ?? 0;
      if (vendors === open.vendors) now.delete(open.field);
      else {
        const explanation = vendors === 0 ? 'All its values can be read again.' : 'The number of vendors changed.';
        this.#close.send({ id: open.id, explained_at, explanation });
      }
    }
    for (const [field, vendors] of now)
      this.add(id, accountId, { kind: 'unreadable_value', vendorid: null, fields: { field, vendors } });
  }

  /** Fields that the service no longer sends. */
  unsent(accountId: string): Promise<UnsentField[]> {
    return this.database.read(() => this.#unsent.all({ accountId }));
  }

  /** The service sends a field after all. Runs inside a transaction. */
  sentAfterAll(accountId: string, field: string, explanation: string): void {
    const explained_at = timestamp(this.clock.now());
    this.#sentAgain.send({ account_id: accountId, field, explained_at, explanation });
  }

  /**
   * Records the fields that a run showed. A field that appears or disappears becomes a finding. One that disappears and of which values are held
   * becomes another, which is open until it is sent again or excluded: nobody knows what its values are now.
   */
  reportFields({ id, accountId }: Run, { names, whole, excluded }: ObservedFields): Promise<void> {
    return this.database.write(async () => {
      const before = new Set((await this.#known.all({ account_id: accountId })).map(({ field }) => field));
      const appeared = names.filter((name) => !before.has(name));
      const expected = [...before].filter((name) => !excluded.includes(name));
      const disappeared = whole ? expected.filter((name) => !names.includes(name)) : [];
      const first_seen_at = timestamp(this.clock.now());
      for (const field of [...appeared, ...excluded]) this.#learn.send({ account_id: accountId, field, first_seen_at });
      for (const field of disappeared) this.#forget.send({ account_id: accountId, field });
      if (before.size > 0 && appeared.length + disappeared.length > 0)
        this.add(id, accountId, { kind: 'field_drift', vendorid: null, fields: { appeared, disappeared } });
      for (const { field } of await this.#unsent.all({ accountId }))
        if (excluded.includes(field)) this.sentAfterAll(accountId, field, 'It is excluded.');
        else if (names.includes(field)) this.sentAfterAll(accountId, field, 'Lists show it again.');
      // In the path to another name, characters would have to be escaped.
      for (const field of disappeared.filter((name) => /^\w+$/.test(name)))
        if (await this.#isHeld.get({ account_id: accountId, path: `$."${field}"` }))
          this.add(id, accountId, { kind: 'field_drift', vendorid: null, fields: { unsent: field } });
    });
  }
}

/** A field that the service no longer sends, although the mirror holds values of it. */
export interface UnsentField {
  readonly field: string;
  /** When it was missed first. */
  readonly since: string;
}

const isUnsent = sql`vendorid IS NULL AND explained_at IS NULL AND kind = 'field_drift' AND json_extract(fields, '$.unsent') IS NOT NULL`;

/** Prepares the fields of an account that the service no longer sends. */
export function unsentFields(db: Connection): Statement<{ accountId: string }, UnsentField> {
  return statement(db)<{ accountId: string }, UnsentField>`
    SELECT json_extract(fields, '$.unsent') AS field, min(found_at) AS since FROM findings
    WHERE account_id = ${'accountId'} AND ${isUnsent}
    GROUP BY field ORDER BY field`;
}

export interface FindingCount {
  readonly kind: FindingKind;
  readonly count: number;
}

export function findingCounts(db: Connection): Statement<{ run_id: number }, FindingCount> {
  return statement(db)<{ run_id: number }, FindingCount>`
    SELECT kind, count(*) AS count FROM findings WHERE run_id = ${'run_id'} GROUP BY kind ORDER BY kind`;
}

export const expiringFindings = expiringBy(
  sql`findings`,
  sql`id`,
  sql`found_at`,
  sql`CASE WHEN ${isUnsent} THEN 1 ELSE 0 END`,
);
