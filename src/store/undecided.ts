/**
 * Vendors about which lists and reads by id disagree, as of the last complete run. No list showed them, and the service refuses to read them
 * by id, or answers for them alone with what cannot be used: they stay as they are, and what is claimed of the account is limited to what
 * was claimed before. Or a read by id showed them, and the list leaves them out for ever (`list_refuted`): the mirror knows them by that reading,
 * and what is claimed is limited to its moment.
 */
import { sql } from 'kysely';
import { parseInstant, timestamp } from '../domain/clock.ts';
import type { ErrorCode, MirrorError } from '../domain/errors.ts';
import type { Run } from './runs.ts';
import { Transacted } from './sql/database.ts';
import { columns, mirrorSql, ofVendor, statement, type Connection, type Statement } from './sql/statement.ts';
import type { UndecidedTable, VendorKey } from './sql/schema.ts';

const leftOut: ErrorCode = 'list_refuted';
const isLeftOut = 'The list leaves it out, though a read by id shows it.';

interface OfAccount {
  account_id: string;
}

export class Undecided extends Transacted {
  readonly #all = statement<OfAccount, Pick<UndecidedTable, 'vendorid' | 'as_of' | 'code'>>(this.db, (at) =>
    mirrorSql
      .selectFrom('undecided_vendors')
      .select(['vendorid', 'as_of', 'code'])
      .where('account_id', '=', at('account_id')),
  );
  readonly #claimed = statement<OfAccount, { safe_as_of: string | null }>(this.db, (at) =>
    mirrorSql.selectFrom('freshness').select('safe_as_of').where('account_id', '=', at('account_id')),
  );
  readonly #add = statement<UndecidedTable>(this.db, (at) =>
    mirrorSql
      .insertInto('undecided_vendors')
      .values(columns(at, ['account_id', 'vendorid', 'since', 'as_of', 'code', 'error']))
      .onConflict((conflict) =>
        conflict.columns(['account_id', 'vendorid']).doUpdateSet({
          code: sql`excluded.code`,
          error: sql`excluded.error`,
          // What was read is known up to then.
          as_of: sql`CASE excluded.code WHEN 'list_refuted' THEN excluded.as_of ELSE undecided_vendors.as_of END`,
        }),
      ),
  );
  readonly #remove = statement<VendorKey>(this.db, (at) => ofVendor(mirrorSql.deleteFrom('undecided_vendors'), at));

  vendorids(accountId: string): Promise<ReadonlySet<number>> {
    return this.database.read(
      async () => new Set((await this.#all.all({ account_id: accountId })).map(({ vendorid }) => vendorid)),
    );
  }

  /** Those that lists leave out, and reads by id show. */
  unlisted(accountId: string): Promise<ReadonlySet<number>> {
    return this.database.read(async () => {
      const all = await this.#all.all({ account_id: accountId });
      return new Set(all.flatMap(({ vendorid, code }) => (code === leftOut ? vendorid : [])));
    });
  }

  /**
   * Replaces the undecided vendors by those of a run that is about to end as complete. A new one is known up to what was claimed before the
   * run, one of `unlisted` up to the moment that stands beside it, milliseconds since 1970.
   * @returns up to when all of them are known, milliseconds since 1970; null where that is unknown, undefined where there are none.
   */
  replace(
    { accountId }: Pick<Run, 'accountId'>,
    undecided: ReadonlyMap<number, MirrorError>,
    unlisted: ReadonlyMap<number, number> = new Map(),
  ): Promise<number | null | undefined> {
    return this.database.write(async () => {
      const account_id = accountId;
      const since = timestamp(this.clock.now());
      for (const { vendorid } of await this.#all.all({ account_id }))
        if (!undecided.has(vendorid) && !unlisted.has(vendorid)) this.#remove.send({ account_id, vendorid });
      if (undecided.size + unlisted.size === 0) return undefined;
      const as_of = (await this.#claimed.get({ account_id }))?.safe_as_of ?? null;
      for (const [vendorid, { code, message }] of undecided)
        this.#add.send({ account_id, vendorid, since, as_of, code, error: message });
      for (const [vendorid, knownUntil] of unlisted)
        this.#add.send({ account_id, vendorid, since, as_of: timestamp(knownUntil), code: leftOut, error: isLeftOut });
      const known = (await this.#all.all({ account_id })).map((row) => parseInstant(row.as_of ?? '') ?? -Infinity);
      const earliest = Math.min(...known);
      return earliest === -Infinity ? null : earliest;
    });
  }
}

/** After the clock was set back, nobody knows up to when they are known. */
export function forgetWhenKnown(db: Connection): Statement<object> {
  return statement<object>(db, () => mirrorSql.updateTable('undecided_vendors').set({ as_of: null }));
}
