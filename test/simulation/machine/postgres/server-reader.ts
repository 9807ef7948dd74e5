/** Somebody who reads a schema while the program writes it. */
import type { Reader, Value } from '../world-store.ts';
import { askAsFile, askNow } from '../../../support/postgres-questions.ts';

export class ServerReader implements Reader {
  readonly #address: string;
  readonly #schema: string;
  readonly #version: () => number;
  /** What is known of this version. */
  readonly #known = new Map<string, unknown[]>();
  #knownOf = -1;

  /** @param version changes whenever the schema may have */
  constructor(address: string, schema: string, version: () => number) {
    this.#address = address;
    this.#schema = schema;
    this.#version = version;
  }

  get isEmpty(): boolean {
    return this.rows('SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = ? LIMIT 1', this.#schema).length === 0;
  }

  rows<Row>(sql: string, ...values: Value[]): Row[] {
    if (this.#knownOf !== this.#version()) this.#known.clear();
    this.#knownOf = this.#version();
    const key = JSON.stringify([sql, ...values]);
    const known = this.#known.get(key) ?? this.#asked(sql, values);
    this.#known.set(key, known);
    return known as Row[];
  }

  together(ask: () => void): void {
    askNow(this.#address, this.#schema, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    try {
      ask();
    } finally {
      askNow(this.#address, this.#schema, 'ROLLBACK');
    }
  }

  /** The session stays, for others. */
  close(): void {
    this.#known.clear();
  }

  #asked(sql: string, values: readonly Value[]): unknown[] {
    return askAsFile(this.#address, this.#schema, sql, values);
  }
}
