/**
 * A connection to a file, as operations and as what concerns the file itself use it: the one place where statements meet the driver, whose
 * `prepare` takes text.
 */
import { sql, type Compilable } from 'kysely';
import { folded } from '../sql/folding.ts';
import {
  compiled,
  mirrorSql,
  worded,
  type At,
  type Connection,
  type Description,
  type Part,
  type Statement,
} from '../sql/statement.ts';
import { withoutBlobs } from './blobs.ts';
import { savepoint, type Sqlite } from './driver.ts';

/** A statement about the file itself and its connection, which only SQLite has. */
export interface FileStatement<Args, Row = unknown> {
  /** Runs it and returns the number of rows it changed. */
  run(args: Args): number;
  get(args: Args): Row | undefined;
  all(args: Args): Row[];
}

export class SqliteConnection implements Connection {
  readonly sqlite: Sqlite;

  constructor(sqlite: Sqlite) {
    this.sqlite = sqlite;
    sqlite.function('folded', { deterministic: true }, folded);
  }

  prepare<Args extends object, Row = unknown>(build: (at: At<Args>) => Description<Row>): Statement<Args, Row> {
    const prepared = preparedOnce(this.sqlite, build);
    return {
      send: (args) => void prepared.run(args),
      run: (args) => Promise.resolve(prepared.run(args)),
      get: (args) => Promise.resolve(prepared.get(args)),
      all: (args) => Promise.resolve(prepared.all(args)),
    };
  }

  /** SQLite's `data_version`, which costs no read of the file. */
  version(): Promise<string> {
    return Promise.resolve(String(this.sqlite.pragma('data_version', { simple: true })));
  }

  /** Blobs in text columns are shown as SQLite writes them. */
  rows<Row>(query: Compilable<Row>): Promise<Row[]> {
    return Promise.resolve(runFileQuery(this.sqlite, query));
  }

  savepoint<T>(body: () => T | Promise<T>): Promise<T> {
    return savepoint(this.sqlite, body);
  }

  noteWrites(tables: readonly string[], onWrite: (account: string | null) => void): void {
    const { sqlite } = this;
    sqlite.function('_account_written', (account) => {
      onWrite(account as string | null);
      return null;
    });
    const rows = { INSERT: 'new', UPDATE: 'new', DELETE: 'old' };
    for (const table of tables)
      for (const [event, row] of Object.entries(rows)) {
        const trigger = `
          CREATE TEMP TRIGGER IF NOT EXISTS "_${event}_${table}" AFTER ${event} ON main."${table}"
          BEGIN SELECT _account_written(${row}.account_id); END`;
        sqlite.exec(trigger);
      }
    sqlite.exec(`
      CREATE TEMP TRIGGER IF NOT EXISTS _UPDATE__reading_counter AFTER UPDATE OF clock_ahead_ms ON main._reading_counter
      WHEN new.clock_ahead_ms IS NOT old.clock_ahead_ms BEGIN SELECT _account_written(NULL); END;`);
  }
}

/** The file of a connection, for what only a file has. */
export function fileOf(db: Connection): Sqlite {
  if (db instanceof SqliteConnection) return db.sqlite;
  throw new Error('This is done with files of SQLite only.');
}

/** As `statement`, without waiting. */
export function fileStatement(
  sqlite: Sqlite,
): <Args extends object, Row = unknown>(
  words: TemplateStringsArray,
  ...parts: readonly Part<Args>[]
) => FileStatement<Args, Row>;
export function fileStatement<Args extends object, Row = unknown>(
  sqlite: Sqlite,
  build: (at: At<Args>) => Description<Row>,
): FileStatement<Args, Row>;
export function fileStatement<Args extends object, Row>(
  sqlite: Sqlite,
  build?: (at: At<Args>) => Description<Row>,
): unknown {
  if (build) return preparedOnce(sqlite, build);
  return (words: TemplateStringsArray, ...parts: readonly Part<Args>[]) => preparedOnce(sqlite, worded(words, parts));
}

/** Prepares it at its first use. */
function preparedOnce<Args extends object, Row>(
  sqlite: Sqlite,
  build: (at: At<Args>) => Description<Row>,
): FileStatement<Args, Row> {
  let known: FileStatement<Args, Row> | undefined;
  const prepared = (): FileStatement<Args, Row> => (known ??= prepare(sqlite, build));
  return {
    run: (args) => prepared().run(args),
    get: (args) => prepared().get(args),
    all: (args) => prepared().all(args),
  };
}

function prepare<Args extends object, Row>(
  sqlite: Sqlite,
  build: (at: At<Args>) => Description<Row>,
): FileStatement<Args, Row> {
  const { text, names } = compiled(build);
  const prepared = sqlite.prepare<unknown[], Row>(text);
  const bind = (args: Args): unknown[] => names.map((name) => args[name]);
  return {
    run: (args) => prepared.run(bind(args)).changes,
    get: (args) => prepared.get(bind(args)),
    all: (args) => prepared.all(bind(args)),
  };
}

/** As `runQuery`, without waiting. */
export function runFileQuery<Row>(sqlite: Sqlite, query: Compilable<Row>): Row[] {
  const { sql, parameters } = query.compile();
  return sqlite
    .prepare<unknown[], Row>(sql)
    .all(...parameters)
    .map(withoutBlobs);
}

/** Another after every write to the file, by this connection or another: what was read under the same version need not be read again. */
export function fileVersion(sqlite: Sqlite): string {
  const [own] = runFileQuery<{ changes: number }>(
    sqlite,
    mirrorSql.selectNoFrom(sql<number>`total_changes()`.as('changes')),
  );
  return `${String(sqlite.pragma('data_version', { simple: true }))}-${own?.changes ?? 0}`;
}
