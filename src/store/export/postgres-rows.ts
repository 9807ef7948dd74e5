/**
 * The rows to export of a mirror in PostgreSQL: a cursor in a read-only transaction, so that they are of one consistent state, and are fetched
 * as they are written. Only the end of its connection interrupts a query that searches for long.
 */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Client } from 'pg';
import { MirrorError } from '../../domain/errors.ts';
import { valuesOf } from '../postgres/connection.ts';
import { connect, ofServer, spokenIn, type PostgresServer } from '../postgres/session.ts';
import { queryRefused, reads } from '../sqlite/user-query.ts';
import type { Cell, ExportedColumn, ExportedRows, RowSource } from './export-rows.ts';
import type { RowsElsewhere } from './write-export.ts';

/** The most rows of one request. */
const maxPerRequest = 250;

/** What exports read of the schema, named `path` in messages. */
export function postgresRows(server: PostgresServer, path: string): RowsElsewhere {
  return { path, rows: (what, signal) => openRows(server, what, signal) };
}

/** The type of a column, as SQLite declares it, by the number of the type; of all others it is TEXT. */
const declared = new Map([
  [16, 'BOOLEAN'],
  [20, 'INTEGER'],
  [21, 'INTEGER'],
  [23, 'INTEGER'],
  [700, 'REAL'],
  [701, 'REAL'],
  [1184, 'TIMESTAMP'],
]);
/** It holds whole numbers and others. */
const numeric = 1700;

const whole = /^-?\d+$/;

/** Values as a file gives them to an export: whole numbers are exact, and truth values are numbers. */
const cellsOf = new Map<number, (text: string) => Cell>([
  ...[20, 21, 23].map((type) => [type, BigInt] as const),
  [16, (text) => (text === 't' ? 1n : 0n)],
  [numeric, (text) => (whole.test(text) ? BigInt(text) : Number(text))],
]);

function parserOf(type: number): (text: string) => Cell {
  return cellsOf.get(type) ?? (valuesOf.get(type) as ((text: string) => Cell) | undefined) ?? String;
}

async function openRows(
  server: PostgresServer,
  what: RowSource,
  signal: AbortSignal | undefined,
): Promise<ExportedRows> {
  const reading = await Reading.open(server, signal);
  try {
    const columns = await reading.begin(what);
    return { columns, rows: reading.rows(), close: () => reading.close() };
  } catch (error) {
    await reading.close();
    throw error;
  }
}

interface Fetched {
  readonly rows: Cell[][];
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[];
}

class Reading {
  readonly #server: PostgresServer;
  readonly #client: Client;
  readonly #socket: Socket;
  readonly #ending = new AbortController();
  readonly #signal: AbortSignal | undefined;
  /** Whether a user wrote the query. */
  #isUsers = false;
  readonly #interrupt = (): void => void this.close();

  private constructor(server: PostgresServer, client: Client, socket: Socket, signal: AbortSignal | undefined) {
    this.#server = server;
    this.#client = client;
    this.#socket = socket;
    this.#signal = signal;
    signal?.addEventListener('abort', this.#interrupt, { once: true });
  }

  static async open(server: PostgresServer, signal: AbortSignal | undefined): Promise<Reading> {
    const never = new AbortController().signal;
    const { client, socket } = await connect(server, signal ?? never, { types: { getTypeParser: parserOf } });
    return new Reading(server, client, socket, signal);
  }

  /** Opens the cursor. @throws MirrorError `usage` where there is no such view, it has no accounts, or the query is not one that reads. */
  async begin({ view, query, account }: RowSource): Promise<ExportedColumn[]> {
    const { schema } = this.#server;
    if (query !== undefined && account !== undefined)
      throw new MirrorError(
        'usage',
        'A query chooses its rows itself: name the account in it, and leave --account out.',
      );
    // Whoever reads the rows may take its time, and a query may search for long; a server notices who is gone.
    await this.#ask(
      `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${spokenIn(schema)};
       SET LOCAL statement_timeout TO 0; SET LOCAL idle_in_transaction_session_timeout TO 0;
       SET LOCAL client_connection_check_interval TO '5s'; SET LOCAL synchronize_seqscans TO off`,
    );
    if (query !== undefined) {
      if (!reads.test(query)) throw queryRefused('it must be a single SELECT, which changes nothing');
      this.#isUsers = true;
      return (await this.#open(query)).map(({ name, dataTypeID }) => ({ name, type: typeOf(dataTypeID) }));
    }
    const known = await this.#knownView(view ?? 'vendor_overview');
    const types = new Map(
      (await this.#cells('SELECT column_name, type FROM data_dictionary WHERE name = $1', [known])).map(
        ([name, type]) => [String(name), String(type)],
      ),
    );
    const names = (
      await this.#cells(
        `SELECT attname::text FROM pg_attribute WHERE attrelid = CAST($1 AS regclass) AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
        [`"${known}"`],
      )
    ).map(([name]) => name);
    if (account !== undefined && !names.includes('account_id'))
      throw new MirrorError('usage', `The rows of ${known} are of no account: leave --account out.`);
    const where = account === undefined ? '' : ` WHERE account_id = ${this.#client.escapeLiteral(account)}`;
    const listed = names.map((name) => `"${String(name)}"`).join(', ');
    const fields = await this.#open(`SELECT ${listed} FROM "${known}"${where}`);
    return fields.map(({ name, dataTypeID }) => ({
      name,
      type: types.get(name) === 'TIMESTAMP' ? 'TIMESTAMP' : typeOf(dataTypeID),
    }));
  }

  async *rows(): AsyncGenerator<readonly Cell[]> {
    for (;;) {
      const { rows } = await this.#ask(`FETCH FORWARD ${maxPerRequest} FROM exported`);
      yield* rows;
      if (rows.length < maxPerRequest) return;
    }
  }

  /** Ends the connection. */
  async close(): Promise<void> {
    this.#signal?.removeEventListener('abort', this.#interrupt);
    this.#ending.abort(new MirrorError('interrupted', 'Reading the rows was interrupted.'));
    if (this.#socket.closed || this.#socket.pending) return void this.#socket.destroy();
    const closed = once(this.#socket, 'close');
    this.#socket.destroy();
    await closed;
  }

  async #open(query: string): Promise<Fetched['fields']> {
    await this.#ask(`DECLARE exported NO SCROLL CURSOR FOR ${query}`);
    return (await this.#ask('FETCH FORWARD 0 FROM exported')).fields;
  }

  async #knownView(view: string): Promise<string> {
    const known = await this.#cells(
      `SELECT c.relname::text FROM pg_class c
       WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND c.relkind IN ('r', 'v') AND c.relname NOT LIKE '\\_%'
       ORDER BY c.relkind DESC, c.relname`,
    );
    const names = known.map(([name]) => String(name));
    if (names.includes(view)) return view;
    throw new MirrorError('usage', `The mirror has no view ${view}; it has ${names.join(', ')}.`);
  }

  async #cells(text: string, values: readonly unknown[] = []): Promise<Cell[][]> {
    return (await this.#ask(text, values)).rows;
  }

  /** Several statements without values, or one: of that, as of what a user wrote, the server takes no second one. */
  async #ask(text: string, values?: readonly unknown[]): Promise<Fetched> {
    const isOne = values !== undefined || !text.startsWith('BEGIN');
    try {
      const asked = { text, rowMode: 'array' as const, ...(isOne && { queryMode: 'extended' }) };
      return await this.#client.query<Cell[]>(asked, values && [...values]);
    } catch (error) {
      const known = ofServer(this.#server, error, this.#ending.signal);
      const isFault = this.#isUsers && ofQueries.test((error as { readonly code?: string }).code ?? '');
      throw isFault && known instanceof MirrorError ? queryRefused(known.message) : known;
    }
  }
}

/** Of these classes of SQLSTATE, what fails is the fault of the query, unless it is a right that is missing. */
const ofQueries = /^(0A|21|22|25|34|42(?!501)|54)/;

function typeOf(type: number): string | null {
  return type === numeric ? null : (declared.get(type) ?? 'TEXT');
}
