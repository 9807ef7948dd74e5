/** The rows of verifiers: each change of state is one statement. */
import { sql, type Expression, type ExpressionBuilder, type RawBuilder, type SqlBool } from 'kysely';
import type { Sqlite } from '../sqlite/driver.ts';
import type { Statement } from '../sqlite/plain-statement.ts';
import { secretSql, statement } from '../sqlite/statement.ts';
import type { SecretTables, VerifierTable } from '../tables/secret-tables.ts';

interface OfAccount {
  account_id: string;
}
type OfCallback = OfAccount & { callbackid: number };
type OfCode = OfAccount & { verifier: string };
type Code = Pick<VerifierTable, 'verifier' | 'callbackid'>;
type Found = Code & Pick<VerifierTable, 'state'>;

export class VerifierStatements {
  readonly usable: Statement<OfAccount & { now: string }, Code>;
  readonly proven: Statement<OfCallback, Code>;
  readonly find: Statement<OfCode, Found>;
  /** Codes that wait to be tried, the newest first. */
  readonly candidates: Statement<OfAccount, Code>;
  readonly add: Statement<OfCode & { callbackid: number | null; received_at: string }>;
  /** Marks a known code as received again; where its callback no longer exists, it may be for another one. */
  readonly markReceivedAgain: Statement<OfCode & { callbackid: number | null; received_at: string }>;
  readonly drop: Statement<OfCode>;
  /** Clears the mark of a code that was tried again and was wrong; as a key it stays what it was. */
  readonly clearReceivedAgain: Statement<OfCode>;
  /** Makes a code the proven one of a callback. */
  readonly makeProven: Statement<OfCode & OfCallback & { received_at: string }>;
  /** Lets the proven code of a callback expire. */
  readonly retire: Statement<OfCallback & { expires_at: string }>;
  /** Candidates of a callback, and those without one. */
  readonly dropCandidates: Statement<OfCallback>;
  readonly dropExpired: Statement<{ now: string }>;

  constructor(sqlite: Sqlite) {
    this.usable = statement(sqlite, (at) =>
      secretSql
        .selectFrom('verifiers')
        .select(['verifier', 'callbackid'])
        .where('account_id', '=', at('account_id'))
        .where((row) => isUsable(row, at('now')))
        .orderBy('state', 'desc'),
    );
    this.proven = statement(sqlite, (at) =>
      secretSql
        .selectFrom('verifiers')
        .select(['verifier', 'callbackid'])
        .where('account_id', '=', at('account_id'))
        .where('callbackid', '=', at('callbackid'))
        .where('state', '=', 'proven'),
    );
    this.find = statement(sqlite, (at) =>
      secretSql
        .selectFrom('verifiers')
        .select(['verifier', 'callbackid', 'state'])
        .where('account_id', '=', at('account_id'))
        .where('verifier', '=', at('verifier')),
    );
    this.candidates = statement(sqlite, (at) =>
      secretSql
        .selectFrom('verifiers')
        .select(['verifier', 'callbackid'])
        .where('account_id', '=', at('account_id'))
        .where((row) => row.or([row('state', '=', 'candidate'), row('came_again', '=', 1)]))
        .orderBy('received_at', 'desc'),
    );
    this.add = statement(sqlite, (at) =>
      secretSql.insertInto('verifiers').values({
        account_id: at('account_id'),
        verifier: at('verifier'),
        callbackid: at('callbackid'),
        state: 'candidate',
        received_at: at('received_at'),
        expires_at: null,
        came_again: 0,
      }),
    );
    this.markReceivedAgain = statement(sqlite, (at) =>
      secretSql
        .updateTable('verifiers')
        .set({
          came_again: 1,
          received_at: at('received_at'),
          callbackid: sql`iif(state = 'previous', coalesce(${at('callbackid')}, callbackid), callbackid)`,
        })
        .where('account_id', '=', at('account_id'))
        .where('verifier', '=', at('verifier'))
        .where('state', '<>', 'candidate'),
    );
    this.clearReceivedAgain = statement(sqlite, (at) =>
      secretSql
        .updateTable('verifiers')
        .set({ came_again: 0 })
        .where('account_id', '=', at('account_id'))
        .where('verifier', '=', at('verifier')),
    );
    this.drop = statement(sqlite, (at) =>
      secretSql
        .deleteFrom('verifiers')
        .where('account_id', '=', at('account_id'))
        .where('verifier', '=', at('verifier'))
        .where('state', '=', 'candidate'),
    );
    this.makeProven = statement(sqlite, (at) =>
      secretSql
        .insertInto('verifiers')
        .values({
          account_id: at('account_id'),
          verifier: at('verifier'),
          callbackid: at('callbackid'),
          state: 'proven',
          received_at: at('received_at'),
          expires_at: null,
          came_again: 0,
        })
        .onConflict((conflict) =>
          conflict
            .columns(['account_id', 'verifier'])
            .doUpdateSet({ state: 'proven', callbackid: at('callbackid'), expires_at: null, came_again: 0 }),
        ),
    );
    this.retire = statement(sqlite, (at) =>
      secretSql
        .updateTable('verifiers')
        .set({ state: 'previous', expires_at: at('expires_at') })
        .where('account_id', '=', at('account_id'))
        .where('callbackid', '=', at('callbackid'))
        .where('state', '=', 'proven'),
    );
    this.dropCandidates = statement(sqlite, (at) =>
      secretSql
        .deleteFrom('verifiers')
        .where('account_id', '=', at('account_id'))
        .where((row) => row.or([row('callbackid', '=', at('callbackid')), row('callbackid', 'is', null)]))
        .where('state', '=', 'candidate'),
    );
    this.dropExpired = statement(sqlite, (at) =>
      secretSql.deleteFrom('verifiers').where('expires_at', '<=', at('now')),
    );
  }
}

/** Whether a code is a valid key: proven, or replaced but not expired. */
export function isUsable(
  row: ExpressionBuilder<SecretTables, 'verifiers'>,
  now: RawBuilder<string>,
): Expression<SqlBool> {
  return row.or([row('state', '=', 'proven'), row.and([row('state', '=', 'previous'), row('expires_at', '>', now)])]);
}
