/** Where jobs run: each in a process of its own, so that no two share a heap, an event loop or a warmed-up compiler. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { JobName } from './jobs.ts';

/** A job that has reported its result. */
export interface RunningJob<Result = unknown, Question = object, Answer = unknown> {
  readonly result: Result;
  ask(question: Question): Promise<Answer>;
  end(): Promise<void>;
}

export interface Host {
  /** Starts a job, and resolves when it has reported its result. */
  start(name: JobName, params: object): Promise<RunningJob>;
}

/** Runs a job to its end. @returns its result. */
export async function finished(host: Host, name: JobName, params: object): Promise<unknown> {
  const job = await host.start(name, params);
  await job.end();
  return job.result;
}

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export const ownProcesses: Host = {
  async start(name, params) {
    const child = fork(here('job-process.ts'), [name, JSON.stringify(params)], {
      execArgv: ['--import', here('../../../.config/typescript-loader.js')],
    });
    const { result } = (await message(child)) as { result: unknown };
    return {
      result,
      async ask(question) {
        child.send(question);
        return ((await message(child)) as { answer: unknown }).answer;
      },
      async end() {
        if (child.exitCode !== null) return;
        const ended = once(child, 'exit');
        if (child.connected) child.disconnect();
        await ended;
      },
    };
  },
};

/** The next thing that the process says. @throws Error where it ends instead. */
function message(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null): void => reject(new Error(`A bench process ended early (${String(code)}).`));
    child.once('exit', onExit);
    child.once('message', (said) => {
      child.off('exit', onExit);
      resolve(said);
    });
  });
}
