/**
 * Reads the rows of a query in a child process. SQLite may search for the first row for hours, and only the end of its process interrupts
 * it; in this process no signal would be handled until then.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { MirrorError } from '../../domain/errors.ts';
import { driverFolder } from '../sqlite/driver-package.ts';
import { SqliteError } from '../sqlite/driver.ts';
import { childEnvironment, parentGuard } from './ends-with-parent.ts';

type RawRow = readonly unknown[];

type Answer =
  { readonly rows: readonly RawRow[]; readonly isLast: boolean } | { readonly code: string; readonly message: string };

/**
 * Plain JavaScript, because it is not compiled. Sends as many rows as requested; the first ones singly, because the next may take long. A
 * terminal sends Ctrl-C to every process; the parent decides when this one ends.
 */
const program = `
  const { Worker } = require('node:worker_threads');
  const workerData = Number(process.argv[1]);
  new Worker(${JSON.stringify(parentGuard)}, { eval: true, workerData }).unref();
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined);
  let rows;
  process.on('message', ({ driver, path, query, most }) => {
    try {
      if (!rows) {
        const sqlite = new (require(driver))(path, { readonly: true, fileMustExist: true, timeout: 100 });
        rows = sqlite.prepare(query).raw(true).safeIntegers(true).iterate();
      }
      const found = [];
      let next;
      while (found.length < most && !(next = rows.next()).done) found.push(next.value);
      process.send({ rows: found, isLast: found.length < most });
    } catch ({ code = '', message }) {
      process.send({ code, message });
    }
  });
  process.on('disconnect', () => process.exit());`;

/** The most rows of one request. */
const mostPerRequest = 250;

export class RowProcess {
  readonly #child: ChildProcess;
  readonly #gone: Promise<void>;
  readonly #asked: { readonly path: string; readonly query: string };
  /** Set when the process ended before the last row. */
  #end: Error | undefined;

  /** `query` must be read-only. The signal ends the process, like `close`. */
  constructor(path: string, query: string, signal?: AbortSignal) {
    this.#asked = { path, query };
    this.#child = spawn(process.execPath, ['--eval', program, '--', String(process.pid)], {
      env: childEnvironment(),
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      serialization: 'advanced',
    });
    this.#gone = new Promise((resolve) => {
      this.#child.once('close', resolve);
      this.#child.once('error', (error) => {
        this.#end ??= error;
        resolve();
      });
    });
    signal?.addEventListener('abort', () => void this.close(), { once: true });
    if (signal?.aborted) void this.close();
  }

  /** The rows, read on demand. @throws SqliteError of SQLite; MirrorError `interrupted` where the process was ended. */
  async *rows(): AsyncGenerator<RawRow> {
    for (let most = 1; ; most = Math.min(2 * most, mostPerRequest)) {
      const answer = await this.#next(most);
      if ('code' in answer) throw new SqliteError(answer.message, answer.code);
      yield* answer.rows;
      if (answer.isLast) return;
    }
  }

  /** Ends the process. Resolves when it no longer holds the mirror. */
  close(): Promise<void> {
    this.#end ??= new MirrorError('interrupted', 'Reading the rows was interrupted.');
    this.#child.kill('SIGKILL');
    return this.#gone;
  }

  #next(most: number): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const fail = (): void =>
        reject(
          this.#end ?? new MirrorError('database_unusable', 'The process that reads the mirror ended unexpectedly.'),
        );
      if (this.#end || !this.#child.connected) {
        fail();
        return;
      }
      const onAnswer = (answer: unknown): void => {
        this.#child.off('close', fail);
        resolve(answer as Answer);
      };
      this.#child.once('message', onAnswer);
      this.#child.once('close', fail);
      this.#child.send({ driver: driverFolder, ...this.#asked, most });
    });
  }
}
