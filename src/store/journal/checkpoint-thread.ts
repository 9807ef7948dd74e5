/**
 * The thread that runs checkpoints, which copy the journal (WAL) into the database file: started when first needed, ended with the daemon.
 */
import { statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

export interface CheckpointParams {
  readonly path: string;
  readonly files: FileNumbers;
}

/** SQLite's error of a failed checkpoint. */
export interface CheckpointFault {
  readonly message: string;
  readonly code: string | undefined;
}

/** undefined where as much was copied as readers allow. */
export type CheckpointAnswer = CheckpointFault | undefined;

/** The inodes of the file and its journal, to detect that either was replaced. */
export interface FileNumbers {
  readonly database: number | undefined;
  readonly journal: number | undefined;
}

export function numbersOf(path: string): FileNumbers {
  const inode = (name: string): number | undefined => statSync(name, { throwIfNoEntry: false })?.ino;
  return { database: inode(path), journal: inode(`${path}-wal`) };
}

export class CheckpointThread {
  readonly #program: string;
  readonly #params: CheckpointParams;
  #worker: Worker | undefined;
  #ended = false;

  /** `program` is the path of the compiled thread, `path` that of a mirror which this process has open and has read. */
  constructor(program: string, path: string) {
    this.#program = program;
    this.#params = { path, files: numbersOf(path) };
  }

  /** Runs one checkpoint. Call it one at a time. @throws Error where the thread cannot work, or ends. */
  checkpoint(): Promise<CheckpointAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#ended) throw new Error('The checkpoint thread ended.');
      const worker = this.#begun();
      const settled = (): void => {
        worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      };
      const onMessage = (answer: CheckpointAnswer): void => {
        settled();
        resolve(answer);
      };
      const onError = (error: Error): void => {
        settled();
        reject(error);
      };
      const onExit = (): void => onError(new Error('The checkpoint thread ended.'));
      worker.on('message', onMessage).on('error', onError).on('exit', onExit);
      worker.postMessage('checkpoint');
    });
  }

  /** Ends the thread. May be called more than once. */
  async stop(): Promise<void> {
    this.#ended = true;
    await this.#worker?.terminate();
  }

  #begun(): Worker {
    if (this.#worker) return this.#worker;
    // The environment may contain secrets.
    const worker = new Worker(this.#program, { workerData: this.#params, env: {} });
    this.#worker = worker;
    worker.unref();
    // `checkpoint` reports errors; without any listener an error would end the process.
    worker.on('error', () => undefined);
    worker.on('exit', () => (this.#ended = true));
    return worker;
  }
}
