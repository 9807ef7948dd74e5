/** What SQLite receives of a statement: it keeps its plan only if no bound value could have led to another. */
import { SqliteConnection } from '../../../../src/store/sqlite/connection.ts';
import { Driver } from '../../../../src/store/sqlite/driver-package.ts';
import type { Sqlite } from '../../../../src/store/sqlite/driver.ts';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { runQuery, mirrorSql, statement } from '../../../../src/store/sql/statement.ts';
import { sourceTree } from '../../../support/source/source-tree.ts';

function deliveries(): Sqlite {
  const sqlite = new Driver(':memory:');
  onTestFinished(() => void sqlite.close());
  sqlite.exec('CREATE TABLE deliveries (id INTEGER PRIMARY KEY, account_id TEXT, outcome TEXT)');
  sqlite.exec(
    "INSERT INTO deliveries (account_id, outcome) VALUES ('a', 'pending'), ('a', 'applied'), ('o''b', 'parked')",
  );
  return sqlite;
}

describe('a statement', () => {
  it('binds its arguments, and has constant text for constant values', async () => {
    const sqlite = deliveries();
    const prepare = vi.spyOn(sqlite, 'prepare');
    const open = statement<{ account_id: string }, { id: number }>(new SqliteConnection(sqlite), (at) =>
      mirrorSql
        .selectFrom('deliveries')
        .select('id')
        .where('account_id', '=', at('account_id'))
        .where('outcome', 'in', ['pending', 'parked'])
        .limit(5),
    );
    expect(await open.all({ account_id: 'a' })).toEqual([{ id: 1 }]);
    expect(await open.all({ account_id: "o'b" })).toEqual([{ id: 3 }]);
    expect(prepare.mock.calls).toEqual([
      [`select "id" from "deliveries" where "account_id" = ? and "outcome" in ('pending', 'parked') limit 5`],
    ]);
  });

  it("H9 contains no text that may be somebody's", async () => {
    const named = (name: string): Promise<unknown> =>
      statement<object>(new SqliteConnection(deliveries()), () =>
        mirrorSql.selectFrom('deliveries').select('id').where('account_id', '=', name),
      ).all({});
    expect(await named('bill_vendor.%')).toEqual([]);
    for (const name of ["o'b", '"', 'a;b', 'ä', '\n']) expect(() => named(name)).toThrow('not a constant');
  });

  it('is planned once: no limit is a bound parameter alone', () => {
    const bound = /\b(LIMIT|OFFSET)\s+\$\{(at\(|')|\.(limit|offset)\(at\(/;
    const alone = sourceTree('src/store').flatMap(({ path, text }) => (bound.test(text) ? [path] : []));
    expect(alone).toEqual([]);
  });
});

describe('a search', () => {
  it('H9 binds whatever is searched for', async () => {
    const named = (name: string): Promise<unknown[]> =>
      runQuery(
        new SqliteConnection(deliveries()),
        mirrorSql.selectFrom('deliveries').select('id').where('account_id', '=', name),
      );
    expect(await named("o'b")).toEqual([{ id: 3 }]);
    expect(await named("' OR '1' = '1")).toEqual([]);
  });
});
