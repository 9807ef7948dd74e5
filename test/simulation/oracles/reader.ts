/** Somebody who reads the file while the program writes it: one connection, on which each question is prepared once. */
import type BetterSqlite3 from 'better-sqlite3';
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import type { Sqlite } from '../../../src/store/sqlite/driver.ts';

type Value = string | number;

export class Reader {
  readonly #sqlite: Sqlite;
  readonly #questions = new Map<string, BetterSqlite3.Statement<Value[]>>();

  constructor(path: string) {
    this.#sqlite = new Driver(path, { readonly: true, fileMustExist: true });
  }

  rows<Row>(sql: string, ...values: Value[]): Row[] {
    return this.#ask(sql).all(...values) as Row[];
  }

  /** Asks several questions of one state, which costs less than one state for each. */
  together(ask: () => void): void {
    this.#sqlite.transaction(ask).deferred();
  }

  close(): void {
    this.#sqlite.close();
  }

  #ask(sql: string): BetterSqlite3.Statement<Value[]> {
    const question = this.#questions.get(sql) ?? this.#sqlite.prepare(sql);
    this.#questions.set(sql, question);
    return question;
  }
}
