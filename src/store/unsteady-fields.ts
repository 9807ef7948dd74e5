/**
 * Fields that differ without an edit ("unsteady"), by account: a signed address or a time of the answer, which no two answers show alike. Each
 * such answer would be a version of the vendor, and a message to each receiver. What lists show otherwise than reads by id do is none of
 * them: lists do not carry it (`details.ts`). So a list that shows a vendor exactly as an earlier version of it was, which is not applied
 * (`lagging-copies.ts`), counts for none. Where it is a field that flickers between few values, two reads by id in succession show that, and count.
 *
 * `updated_at` changes with every edit. So a field that differs while `updated_at` does not was not edited; once that may be a change of the
 * service's own. A field is unsteady once it did so `enough` times in succession in one vendor: with no complete run in between in which that
 * vendor stayed as it was. Eight vendors are watched for each field; one that stayed as it was makes room. It counts for that vendor alone, or
 * for all where it did so in three and in most of those that are watched.
 *
 * From then on such a difference is no change: it is neither stored as a version, nor told, nor does it hold a list back as a copy that
 * lags, nor count in `verify`. What a read by id shows takes its place silently; what a list shows does not. With an edit, or where another
 * field differs too, the vendor is stored as it was read, but for what a list shows of a field that was not edited. So no edit is lost: the
 * reading that shows it counts in full, and only what a later one shows of the field alone is stored without being told. Balances, tax
 * defaults and states move without an edit, and never count.
 */
import { movingFields, neededFields } from '../domain/vendor.ts';
import { changedValues, isEdited, type Difference } from './acceptance.ts';
import type { Findings } from './findings.ts';
import { lastCompleteBefore, type Run } from './runs.ts';
import { statement, Operations, type Connection, type None, type Snapshot } from './sql/statement.ts';
import type { VendorKey } from './sql/schema.ts';

/** So many differences in succession. */
const enough = 4;

/** In so many vendors: then it counts for all. */
const enoughVendors = 3;

/** How many vendors are watched for each field. */
const watched = 8;

/** What moves without an edit, or shows one. */
const exempt: ReadonlySet<string> = new Set([...movingFields, 'vis_state', 'presence', 'updated_at']);

interface OfField {
  readonly account_id: string;
  readonly field: string;
}

/** Accounts of which the stored vendors change without a change that anybody is told of. */
export async function accountsWithUnsteadyFields(db: Snapshot): Promise<Set<string>> {
  const accounts = statement(db)<None, { account_id: string }>`
    SELECT DISTINCT account_id FROM _unsteady_fields WHERE changes >= ${enough}`;
  return new Set((await accounts.all({})).map(({ account_id }) => account_id));
}

/** All of it runs inside a transaction. */
export class UnsteadyFields extends Operations {
  readonly #findings: Pick<Findings, 'add'>;
  readonly #fields = statement(this.db)<{ account_id: string }, { field: string; is_found: number }>`
    SELECT field, max(is_found) AS is_found FROM _unsteady_fields
    WHERE account_id = ${'account_id'} AND changes >= ${enough} GROUP BY field ORDER BY field`;
  readonly #ofVendor = statement(this.db)<VendorKey, { field: string }>`
    SELECT field FROM _unsteady_fields WHERE account_id = ${'account_id'} GROUP BY field
    HAVING max(changes) FILTER (WHERE vendorid = ${'vendorid'}) >= ${enough}
      OR (total(changes >= ${enough}) >= ${enoughVendors} AND 2 * total(changes >= ${enough}) > count(*))
    ORDER BY field`;
  readonly #last = lastCompleteBefore(this.db);
  readonly #drop = statement(this.db)<OfField & { last: number }>`
    DELETE FROM _unsteady_fields
    WHERE account_id = ${'account_id'} AND field = ${'field'} AND changes < ${enough} AND run_id < ${'last'}`;
  readonly #note = statement(this.db)<OfField & VendorKey & { run_id: number }>`
    INSERT INTO _unsteady_fields (account_id, field, vendorid, changes, run_id)
    SELECT ${'account_id'}, ${'field'}, ${'vendorid'}, 1, ${'run_id'}
    WHERE (SELECT count(*) FROM _unsteady_fields WHERE account_id = ${'account_id'} AND field = ${'field'}
      AND vendorid <> ${'vendorid'}) < ${watched}
    ON CONFLICT (account_id, field, vendorid) DO UPDATE SET changes = _unsteady_fields.changes + 1,
      run_id = max(_unsteady_fields.run_id, excluded.run_id)`;
  readonly #found = statement(this.db)<OfField>`
    UPDATE _unsteady_fields SET is_found = 1 WHERE account_id = ${'account_id'} AND field = ${'field'}`;

  constructor(db: Connection, findings: Pick<Findings, 'add'>) {
    super(db);
    this.#findings = findings;
  }

  /** The unsteady fields of a vendor. */
  async of({ account_id, vendorid }: VendorKey): Promise<string[]> {
    return (await this.#ofVendor.all({ account_id, vendorid })).map(({ field }) => field);
  }

  /** A reading of a stored vendor differs. @param run_id null where no run made it */
  async note({ account_id, vendorid }: VendorKey, difference: Difference, run_id: number | null): Promise<void> {
    if (isEdited(difference)) return;
    const fields = changedValues(difference).filter((field) => !exempt.has(field));
    await this.#count({ account_id, vendorid }, fields, run_id);
  }

  /** Two reads by id of a vendor, one right after the other, showed a field differently. */
  async noteDiffering({ id, accountId }: Run, field: string, vendorid: number): Promise<void> {
    if (!exempt.has(field)) await this.#count({ account_id: accountId, vendorid }, [field], id);
  }

  async #count({ account_id, vendorid }: VendorKey, fields: readonly string[], run_id: number | null): Promise<void> {
    if (fields.length === 0) return;
    const last = (await this.#last.get({ account_id, before: run_id }))?.id ?? 0;
    for (const field of fields) {
      this.#drop.send({ account_id, field, last });
      this.#note.send({ account_id, field, vendorid, run_id: run_id ?? last });
    }
  }

  /** Adds a finding about each field when it becomes unsteady. @returns notes for the run report. */
  async report({ id, accountId }: Run): Promise<string[]> {
    const account_id = accountId;
    const fresh = (await this.#fields.all({ account_id })).filter(({ is_found }) => is_found === 0);
    return fresh.map(({ field }) => {
      const isNeeded = (neededFields as readonly string[]).includes(field);
      const advice = isNeeded ? 'report it to the service' : `exclude it: vendors.exclude: [${field}]`;
      this.#findings.add(id, accountId, { kind: 'unsteady_field', vendorid: null, fields: { field, advice } });
      this.#found.send({ account_id, field });
      return `The service shows ${field} otherwise in each answer, without an edit: it is no longer recorded as a change. If nobody needs it, ${advice}.`;
    });
  }
}
