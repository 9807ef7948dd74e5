/** No SQL is concatenated from values, so no name of a vendor, account or file can inject any. */
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { collect, sourceTree } from '../../../support/source/source-tree.ts';

/** What hands text to SQLite as it stands, or slips it past the builder's parameters. */
const doors = new Set(['prepare', 'exec', 'pragma', 'raw', 'lit', 'id', 'ref', 'table']);

/** Statements that were whole before any value was known: what the builder and its template wrote, and migrations. */
const written = new Set([
  'src/store/sql/statement.ts: build',
  // Words of a template, with arguments by their names.
  'src/store/sql/statement.ts: worded(words, parts)',
  'src/store/sqlite/connection.ts: text',
  'src/store/sqlite/connection.ts: sql',
  // Names of columns, which are constants of `schema.ts`; the builder quotes them.
  "src/store/sql/statement.ts: table === '' ? name : `${table}.${name}`",
  'src/store/sqlite/migrate.ts: script',
  'src/store/sqlite/migrate.ts: space',
  // Names of tables and columns, which are constants of the file; the builder quotes them.
  'src/store/secrets/sealed-columns.ts: table',
  'src/store/secrets/sealed-columns.ts: column',
  'src/store/secrets/sealed-columns.ts: owner',
  // Of tables and columns that the migrations of PostgreSQL made.
  'src/store/copy/copy-mirror.ts: table',
  'src/store/postgres/rewrite.ts: table',
  'src/store/copy/tables.ts: `SELECT ${columns.map(quoted).join()} FROM "${name}"`',
  // Of tables that the file lists.
  'src/store/forget.ts: table',
  'src/store/sqlite/connection.ts: trigger',
  // What a person asks for in words of its own, on a connection that cannot write; `raw` is a method of its statement.
  'src/store/sqlite/user-query.ts: text',
  'src/store/export/export-rows.ts: true',
  'src/store/export/export-program.ts: true',
  'src/store/reports/vendor-list.ts: `${kind}_amount`',
  // Regular expressions, and no SQL.
  'src/store/secrets/sealing.ts: stored',
  'src/store/reports/feed-cursor.ts: text',
  'src/store/sqlite/lock-holder.ts: line',
]);

/** Constants of the source in a pragma, which knows no parameters. */
const constants = /^`[a-z_]+( = \$\{\w+\}|\(\$\{\w+\}\))`$/;

const glued = sourceTree('src/store').flatMap((file) =>
  collect(file, (node) => {
    const statement = ts.isCallExpression(node) ? sqlOf(node) : undefined;
    if (!statement || ts.isStringLiteralLike(statement)) return undefined;
    const place = `${file.path}: ${statement.getText()}`;
    return written.has(place) || constants.test(statement.getText()) ? undefined : place;
  }),
);

/** What a call hands to SQLite. */
function sqlOf({ expression, arguments: [first] }: ts.CallExpression): ts.Expression | undefined {
  return ts.isPropertyAccessExpression(expression) && doors.has(expression.name.text) ? first : undefined;
}

describe('H9 SQL', () => {
  it('is never concatenated from text', () => {
    expect(glued).toEqual([]);
  });
});
