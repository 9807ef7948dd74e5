/**
 * Statements in plain SQL, with arguments by name: for what Kysely does not write, what runs before there are tables, and what must not
 * wait for Kysely to load.
 */
import type { Sqlite } from './driver.ts';

export interface Statement<Args, Row = unknown> {
  /** Runs it and returns the number of rows it changed. */
  run(args: Args): number;
  get(args: Args): Row | undefined;
  all(args: Args): Row[];
}

/** No arguments. */
export type None = Readonly<Record<string, never>>;

/** The SQL, prepared when it is needed for the first time; it names each argument as `:name`. */
export function plainStatement<Args extends object, Row = unknown>(sqlite: Sqlite, text: string): Statement<Args, Row> {
  return preparedOnce(() => {
    const prepared = sqlite.prepare<[Args], Row>(text);
    return {
      run: (args) => prepared.run(args).changes,
      get: (args) => prepared.get(args),
      all: (args) => prepared.all(args),
    };
  });
}

/** A statement that is prepared when it is needed for the first time: most commands need few of all statements. */
export function preparedOnce<Args, Row>(prepare: () => Statement<Args, Row>): Statement<Args, Row> {
  let known: Statement<Args, Row> | undefined;
  const prepared = (): Statement<Args, Row> => (known ??= prepare());
  return {
    run: (args) => prepared().run(args),
    get: (args) => prepared().get(args),
    all: (args) => prepared().all(args),
  };
}
