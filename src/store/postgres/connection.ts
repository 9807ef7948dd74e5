/**
 * A connection to PostgreSQL as operations use it. Their statements are those of SQLite: what PostgreSQL lacks is in the functions of the
 * schema, and values come back as SQLite gives them: times as text in UTC, truth values as 1 and 0.
 *
 * Each question of a transaction is sent at once, also before the one before it is answered. After one has failed, PostgreSQL refuses all
 * others of the transaction, so the first failure is the one that counts.
 */
import { createHash } from 'node:crypto';
import {
  createQueryId,
  PostgresQueryCompiler,
  type Compilable,
  type OperationNodeSource,
  type RootOperationNode,
} from 'kysely';
import { textFor } from './session.ts';
import { compiled, isArgument, type At, type Connection, type Description, type Statement } from '../sql/statement.ts';

/** What a statement needs of a session. */
export interface Sending {
  /** @param name by which the server may keep the statement; undefined for one that is asked once */
  send(name: string | undefined, text: string, values: readonly unknown[]): Promise<Answer>;
  /** Another object where the last commits may be lost. */
  readonly history: object;
  /** What failed is undone, and the transaction goes on. @returns the first failure, which is the reason of the others. */
  recovered(): unknown;
}

export interface Answer {
  readonly rows: readonly object[];
  readonly changed: number;
}

/** As for SQLite: constants of a statement are part of its text. */
class StatementCompiler extends PostgresQueryCompiler {
  protected override appendValue(value: unknown): void {
    if (isArgument(value)) super.appendValue(value);
    else this.appendImmediateValue(value);
  }
}

const compiler = new StatementCompiler();

/** Hints at the planner of SQLite, which PostgreSQL does not know. */
const indexHints = / (?:NOT INDEXED|INDEXED BY \w+)\b/g;

const boundCompiler = new PostgresQueryCompiler();

export class PostgresConnection implements Connection {
  readonly isRemote = true;
  #session: Sending | undefined;
  /** What was sent since, and is not answered. */
  #sent: Promise<unknown>[] = [];
  #parts = 0;

  prepare<Args extends object, Row = unknown>(build: (at: At<Args>) => Description<Row>): Statement<Args, Row> {
    let known: { name: string; text: string; names: readonly (keyof Args & string)[] } | undefined;
    const ask = (args: Args): Promise<Answer> => {
      if (!known) {
        const { text: written, names } = compiled(build, compiler);
        const text = written.replace(indexHints, '');
        known = { name: nameOf(text), text, names };
      }
      const { name, text, names } = known;
      return this.#ask(
        name,
        text,
        names.map((at) => args[at]),
      );
    };
    return {
      send: (args) => this.#later(ask(args)),
      run: async (args) => (await ask(args)).changed,
      get: async (args) => (await ask(args)).rows[0] as Row | undefined,
      all: async (args) => (await ask(args)).rows as Row[],
    };
  }

  async rows<Row>(query: Compilable<Row>): Promise<Row[]> {
    const node = (query as unknown as OperationNodeSource).toOperationNode() as RootOperationNode;
    const { sql, parameters } = boundCompiler.compileQuery(node, createQueryId());
    return (await this.#ask(undefined, sql, parameters)).rows as Row[];
  }

  version(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  async savepoint<T>(body: () => T | Promise<T>): Promise<T> {
    const part = `part${++this.#parts}`;
    this.#later(this.#ask(undefined, `SAVEPOINT ${part}`, []));
    try {
      const result = await body();
      await this.settled();
      this.#later(this.#ask(undefined, `RELEASE SAVEPOINT ${part}`, []));
      return result;
    } catch (error) {
      await Promise.allSettled(this.#sent);
      this.#sent = [];
      await this.#ask(undefined, `ROLLBACK TO SAVEPOINT ${part}; RELEASE SAVEPOINT ${part}`, []);
      throw this.#session?.recovered() ?? error;
    } finally {
      this.#parts -= 1;
    }
  }

  get session(): object | undefined {
    return this.#session?.history;
  }

  /** From now on statements run in this session; none runs without. */
  use(session: Sending | undefined): void {
    this.#session = session;
    this.#sent = [];
    this.#parts = 0;
  }

  /** Resolves when everything that was sent has succeeded. @throws the first failure. */
  async settled(): Promise<void> {
    const results = await Promise.allSettled(this.#sent);
    this.#sent = [];
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  }

  /** @throws Error at once for what cannot be sent: COMMIT may follow before anything is answered. */
  #ask(name: string | undefined, text: string, values: readonly unknown[]): Promise<Answer> {
    if (!this.#session) throw new Error(`A statement ran outside a transaction: ${text}`);
    return this.#session.send(name, text, values.map(storable));
  }

  #later(sent: Promise<unknown>): void {
    // It is reported by `settled`.
    sent.catch(() => undefined);
    this.#sent.push(sent);
  }
}

/** A name for a statement, the same in every process. */
function nameOf(text: string): string {
  return `s${createHash('sha256').update(text).digest('base64url').slice(0, 20)}`;
}

/** The record as received is JSON, which escapes what text of PostgreSQL does not know. @throws Error for what SQLite takes neither. */
function storable(value: unknown): unknown {
  if (typeof value === 'string') return textFor(value);
  if (value === null || ['number', 'bigint'].includes(typeof value) || value instanceof Uint8Array) return value;
  throw new Error(`A statement was given a value of the type ${typeof value}.`);
}

const asNumber = (text: string): number => Number(text);

/** Values as SQLite gives them, by the number of their type; of others the driver's own. */
export const valuesOf = new Map<number, (text: string) => unknown>([
  // boolean
  [16, (text) => (text === 't' ? 1 : 0)],
  // bigint, smallint, integer, real, double precision
  ...[20, 21, 23, 700, 701].map((type) => [type, asNumber] as const),
  // numeric
  [1700, asNumber],
  // timestamptz, in a session whose time zone is UTC
  [1184, moment],
]);

/** `2026-12-01 10:00:00.5+00` as `2026-12-01 10:00:00.500`. */
function moment(text: string): string {
  const [whole = '', part = ''] = text.replace(/\+00$/, '').split('.');
  return `${whole}.${part.padEnd(3, '0')}`;
}
