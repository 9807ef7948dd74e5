/** Somebody who reads the file while the program writes it: one connection, on which each question is prepared once. */
import type BetterSqlite3 from 'better-sqlite3';
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import type { Sqlite } from '../../../src/store/sqlite/driver.ts';
import type { Reader, Value } from './world-store.ts';

export class FileReader implements Reader {
  readonly #sqlite: Sqlite;
  readonly #questions = new Map<string, BetterSqlite3.Statement<Value[]>>();

  constructor(path: string) {
    this.#sqlite = new Driver(path, { readonly: true, fileMustExist: true });
  }

  get isEmpty(): boolean {
    return this.rows('SELECT 1 FROM sqlite_master LIMIT 1').length === 0;
  }

  rows<Row>(sql: string, ...values: Value[]): Row[] {
    return this.#ask(sql).all(...values) as Row[];
  }

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
