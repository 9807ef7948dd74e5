/**
 * Vendors about which the last complete run could not decide: no list showed them, and the service refuses to read them by id, or answers for
 * them alone with what cannot be used. They stay as they are, and what is claimed of the account is limited to what was claimed before.
 */
import { sql } from 'kysely';
import { parseInstant, timestamp, type Clock } from '../domain/clock.ts';
import type { MirrorError } from '../domain/errors.ts';
import type { Run } from './runs.ts';
import type { Database } from './sqlite/database.ts';
import type { Sqlite } from './sqlite/driver.ts';
import type { UndecidedTable, VendorKey } from './sqlite/schema.ts';
import { columns, mirrorSql, ofVendor, statement, type Statement } from './sqlite/statement.ts';

interface OfAccount {
  account_id: string;
}

export class Undecided {
  readonly #database: Database;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #all: Statement<OfAccount, Pick<UndecidedTable, 'vendorid' | 'as_of'>>;
  readonly #claimed: Statement<OfAccount, { safe_as_of: string | null }>;
  readonly #add: Statement<UndecidedTable>;
  readonly #remove: Statement<VendorKey>;

  constructor(database: Database, clock: Pick<Clock, 'now'>) {
    const { sqlite } = database;
    this.#database = database;
    this.#clock = clock;
    this.#all = statement(sqlite, (at) =>
      mirrorSql
        .selectFrom('undecided_vendors')
        .select(['vendorid', 'as_of'])
        .where('account_id', '=', at('account_id')),
    );
    this.#claimed = statement(sqlite, (at) =>
      mirrorSql.selectFrom('freshness').select('safe_as_of').where('account_id', '=', at('account_id')),
    );
    this.#add = statement(sqlite, (at) =>
      mirrorSql
        .insertInto('undecided_vendors')
        .values(columns(at, ['account_id', 'vendorid', 'since', 'as_of', 'code', 'error']))
        .onConflict((conflict) =>
          conflict
            .columns(['account_id', 'vendorid'])
            .doUpdateSet({ code: sql`excluded.code`, error: sql`excluded.error` }),
        ),
    );
    this.#remove = statement(sqlite, (at) => ofVendor(mirrorSql.deleteFrom('undecided_vendors'), at));
  }

  /** The undecided vendors of an account. */
  vendorids(accountId: string): Promise<ReadonlySet<number>> {
    return this.#database.read(() => new Set(this.#all.all({ account_id: accountId }).map(({ vendorid }) => vendorid)));
  }

  /**
   * Replaces the undecided vendors by those of a run that is about to end as complete. A new one is known up to what was claimed before the
   * run.
   * @returns up to when all of them are known, milliseconds since 1970; null where that is unknown, undefined where there are none.
   */
  replace(
    { accountId }: Pick<Run, 'accountId'>,
    undecided: ReadonlyMap<number, MirrorError>,
  ): Promise<number | null | undefined> {
    return this.#database.write(() => {
      const account_id = accountId;
      const since = timestamp(this.#clock.now());
      for (const { vendorid } of this.#all.all({ account_id }))
        if (!undecided.has(vendorid)) this.#remove.run({ account_id, vendorid });
      if (undecided.size === 0) return undefined;
      const as_of = this.#claimed.get({ account_id })?.safe_as_of ?? null;
      for (const [vendorid, { code, message }] of undecided)
        this.#add.run({ account_id, vendorid, since, as_of, code, error: message });
      const known = this.#all.all({ account_id }).map((row) => parseInstant(row.as_of ?? '') ?? -Infinity);
      const earliest = Math.min(...known);
      return earliest === -Infinity ? null : earliest;
    });
  }
}

/** After the clock was set back, nobody knows up to when they are known. */
export function forgetWhenKnown(sqlite: Sqlite): Statement<object> {
  return statement<object>(sqlite, () => mirrorSql.updateTable('undecided_vendors').set({ as_of: null }));
}
