/**
 * The process that carries out a copy or an export, or reads rows for one, seen from its parent. SQLite may search for the first row for hours,
 * and only the end of its process interrupts it; in this process no signal would be handled until then.
 *
 * After Ctrl-C `export` exits with 1 and leaves nothing beside the file. The process gets no environment variables except those that the
 * loader and SQLite look for.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { Readable } from 'node:stream';
import { MirrorError, type ErrorCode } from '../../domain/errors.ts';
import { SqliteError } from '../sqlite/driver.ts';

/** The most rows of one request. */
const maxPerRequest = 250;

export class ExportProcess {
  readonly #child: ChildProcess;
  readonly #output: Readable;
  readonly #gone: Promise<void>;
  #answer: JobAnswer | undefined;
  /** Why the process ended early, or could not start. */
  #end: Error | undefined;

  /** `program` is the compiled one. The `signal` ends the process, as `close` does. */
  constructor(program: string, job: ExportJob, signal?: AbortSignal) {
    this.#child = spawn(process.execPath, [program, String(process.pid)], {
      // Its paths are absolute, and the working directory may have been removed.
      cwd: '/',
      env: childEnvironment(),
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
      serialization: 'advanced',
    });
    this.#output = this.#child.stdout ?? Readable.from([]);
    if (job.do !== 'rows') this.#child.once('message', (answer) => (this.#answer = answer as JobAnswer));
    this.#gone = new Promise((resolve) => {
      this.#child.once('close', resolve);
      this.#child.once('error', (error) => {
        this.#end ??= error;
        resolve();
      });
    });
    this.#send(job);
    signal?.addEventListener('abort', () => void this.close(), { once: true });
    if (signal?.aborted) void this.close();
  }

  /**
   * Resolves when the job is done and the process has ended.
   * @throws SqliteError and MirrorError of the job; MirrorError `interrupted` where the process was ended before.
   */
  async done(): Promise<Exported> {
    this.#output.resume();
    await this.#gone;
    if (this.#answer && 'done' in this.#answer) return this.#answer.done;
    if (this.#answer) throw errorOf(this.#answer.fault);
    throw this.#end ?? endedUnexpectedly();
  }

  /** Its standard output, which is complete only if `done` resolves. */
  get output(): AsyncIterable<Buffer> {
    return this.#output;
  }

  /**
   * The rows of a job that reads them, on demand; the first ones singly, because the next may take long.
   * @throws SqliteError and MirrorError of the job; MirrorError `interrupted` where the process was ended before.
   */
  async *rows(): AsyncGenerator<RawRow> {
    for (let most = 1; ; most = Math.min(2 * most, maxPerRequest)) {
      const answer = await this.#next(most);
      if ('fault' in answer) throw errorOf(answer.fault);
      yield* answer.rows;
      if (answer.isLast) return;
    }
  }

  /** Ends the process. Resolves when it no longer holds the mirror. */
  close(): Promise<void> {
    this.#end ??= new MirrorError('interrupted', 'The export was interrupted.');
    this.#child.kill('SIGKILL');
    return this.#gone;
  }

  #send(message: ExportJob | number): void {
    this.#child.send(message, (error) => {
      if (error) this.#end ??= error;
    });
  }

  async #next(most: number): Promise<RowAnswer> {
    const answer = new Promise<RowAnswer>((resolve) => {
      this.#child.once('message', (message) => resolve(message as RowAnswer));
    });
    if (!this.#end && this.#child.connected) this.#send(most);
    const answered = await Promise.race([answer, this.#gone]);
    if (answered) return answered;
    throw this.#end ?? endedUnexpectedly();
  }
}

function endedUnexpectedly(): MirrorError {
  return new MirrorError('database_unusable', 'The process that reads the mirror ended unexpectedly.');
}

function errorOf({ of, code, message }: JobFault): Error {
  if (of === 'sqlite') return new SqliteError(message, code);
  return of === 'mirror' ? new MirrorError(code as ErrorCode, message) : new Error(message);
}

/** The type of a column in a typed format. */
export type ColumnKind = 'integer' | 'real' | 'boolean' | 'time' | 'text';

export interface TypedColumn {
  readonly name: string;
  /** Undefined where it is not declared; then the first values decide. */
  readonly kind: ColumnKind | undefined;
}

export type ExportJob =
  /** Fills the empty file at `to` with a copy of the mirror at `path`, opens it like any reader, and checks it. */
  | { readonly do: 'copy'; readonly path: string; readonly to: string }
  /** Writes the rows of a query as Parquet to standard output. */
  | {
      readonly do: 'parquet';
      readonly path: string;
      readonly query: string;
      readonly columns: readonly TypedColumn[];
    }
  /** Reads the rows of a query, as many as each further message asks for. */
  | { readonly do: 'rows'; readonly path: string; readonly query: string };

/** The result of a successful export. */
export interface Exported {
  /** Number of texts in time columns that are not times; a typed format leaves them empty. */
  readonly noTimes: number;
}

export interface JobFault {
  /** What the code belongs to. */
  readonly of: 'sqlite' | 'mirror' | 'other';
  readonly code: string;
  readonly message: string;
}

export type JobAnswer = { readonly done: Exported } | { readonly fault: JobFault };

export type RawRow = readonly unknown[];

export type RowAnswer = { readonly rows: readonly RawRow[]; readonly isLast: boolean } | { readonly fault: JobFault };

/**
 * The program of a thread that ends its process when the parent, whose process id it gets, has ended: SQLite may be busy for hours, and holds the
 * mirror's journal as long as it reads.
 */
export const parentGuard = `
  const asking = require('node:worker_threads').workerData;
  setInterval(() => process.ppid === asking || process.kill(process.pid, 'SIGKILL'), 250);`;

/** What the loader and SQLite look for in the environment; the rest may hold secrets. */
const passedOn = /^(?:LD_|DYLD_|(?:SQLITE_)?TMPDIR$)/;

function childEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => passedOn.test(name)));
}
