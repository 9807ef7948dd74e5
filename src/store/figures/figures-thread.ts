/** The thread that computes figures: started with the first request, ended with the daemon. */
import { Worker } from 'node:worker_threads';
import type { Service } from '../../domain/lifecycle.ts';
import type { Figures } from './figures.ts';

export interface FiguresQuestion {
  readonly id: number;
  readonly accountId: string;
}

export type FiguresAnswer =
  { readonly id: number; readonly figures: Figures } | { readonly id: number; readonly error: string };

interface Waiting {
  readonly resolve: (figures: Figures) => void;
  readonly reject: (error: Error) => void;
}

export class FiguresThread implements Service {
  readonly name = 'the figures thread';
  readonly #program: string;
  readonly #path: string;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #asked = 0;
  #stopped = false;

  /** `program` is the path of the compiled thread, `path` that of the mirror. */
  constructor(program: string, path: string) {
    this.#program = program;
    this.#path = path;
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#worker?.terminate();
  }

  /** Computes the figures of an account. @throws Error where the thread cannot work, or ends. */
  read(accountId: string): Promise<Figures> {
    return new Promise((resolve, reject) => {
      if (this.#stopped) throw new Error('Stopping.');
      const id = ++this.#asked;
      this.#waiting.set(id, { resolve, reject });
      this.#begun().postMessage({ id, accountId } satisfies FiguresQuestion);
    });
  }

  #begun(): Worker {
    if (this.#worker) return this.#worker;
    // The environment may contain secrets.
    const worker = new Worker(this.#program, { workerData: { path: this.#path }, env: {} });
    this.#worker = worker;
    worker.unref();
    worker.on('message', (answer: FiguresAnswer) => {
      const waiting = this.#waiting.get(answer.id);
      this.#waiting.delete(answer.id);
      if ('figures' in answer) waiting?.resolve(answer.figures);
      else waiting?.reject(new Error(answer.error));
    });
    let fault = new Error('The figures thread ended.');
    worker.on('error', (error) => (fault = error));
    worker.on('exit', () => {
      this.#worker = undefined;
      for (const { reject } of this.#waiting.values()) reject(fault);
      this.#waiting.clear();
    });
    return worker;
  }
}
