/** Somebody who reads the file while the program writes it: one connection, on which each question is prepared once. */
import Driver from 'better-sqlite3';

type Value = string | number;

export class Reader {
  readonly #sqlite: Driver.Database;
  readonly #questions = new Map<string, Driver.Statement<Value[]>>();

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

  #ask(sql: string): Driver.Statement<Value[]> {
    const question = this.#questions.get(sql) ?? this.#sqlite.prepare(sql);
    this.#questions.set(sql, question);
    return question;
  }
}
