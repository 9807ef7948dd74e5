/**
 * The process that carries out a copy or an export, seen from its parent. SQLite may search for the first row for hours, and only the end of its
 * process interrupts it; in this process no signal would be handled until then, and in a daemon all deliveries would wait.
 *
 * After Ctrl-C `export` exits with 1 and leaves nothing beside the file. The process gets no environment variables except those that the
 * loader and SQLite look for.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { Readable } from 'node:stream';
import { MirrorError, type ErrorCode } from '../../domain/errors.ts';
import { SqliteError } from '../sqlite/driver.ts';
import type { RowQuery } from './export-rows.ts';
import type { Exported, RowFormat } from './formats.ts';

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
    this.#child.once('message', (answer) => (this.#answer = answer as JobAnswer));
    this.#gone = new Promise((resolve) => {
      this.#child.once('close', resolve);
      this.#child.once('error', (error) => {
        this.#end ??= error;
        resolve();
      });
    });
    this.#child.send(job, (error) => {
      if (error) this.#end ??= error;
    });
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

  /** Ends the process. Resolves when it no longer holds the mirror. */
  close(): Promise<void> {
    this.#end ??= new MirrorError('interrupted', 'The export was interrupted.');
    this.#child.kill('SIGKILL');
    return this.#gone;
  }
}

function endedUnexpectedly(): MirrorError {
  return new MirrorError('database_unusable', 'The process that reads the mirror ended unexpectedly.');
}

function errorOf({ of, code, message }: JobFault): Error {
  if (of === 'sqlite') return new SqliteError(message, code);
  return of === 'mirror' ? new MirrorError(code as ErrorCode, message) : new Error(message);
}

export type ExportJob =
  /** Fills the empty file at `to` with a copy of the mirror at `path`, opens it like any reader, and checks it. */
  | { readonly do: 'copy'; readonly path: string; readonly to: string }
  /** Writes the rows of a query to standard output. */
  | ({ readonly do: 'rows'; readonly format: RowFormat } & RowQuery);

export interface JobFault {
  /** What the code belongs to. */
  readonly of: 'sqlite' | 'mirror' | 'other';
  readonly code: string;
  readonly message: string;
}

export type JobAnswer = { readonly done: Exported } | { readonly fault: JobFault };

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
