/** Several processes that simulate, each one seed at a time. */
import { fork, type ChildProcess } from 'node:child_process';
import type { Task } from './crew.ts';
import type { Sabotage } from './sabotages.ts';
import type { Outcome } from './simulate.ts';

export interface Fleet {
  /** The outcomes of all tasks as they come, in any order; what is not taken is not begun. */
  run(tasks: Iterable<Task>): AsyncGenerator<Outcome>;
  close(): void;
}

const root = new URL('../..', import.meta.url).pathname;
const crew = new URL('crew.ts', import.meta.url).pathname;

/** Starts `jobs` processes, of the program as it is or with a fault planted. */
export function launch(jobs: number, sabotage?: Sabotage): Fleet {
  const env = { ...process.env, PLANTED: JSON.stringify(sabotage?.changes ?? []) };
  const execArgv = ['--import', `${root}.config/typescript-loader.js`];
  const children = Array.from({ length: jobs }, () => fork(crew, { cwd: root, env, execArgv }));
  return {
    async *run(tasks) {
      const waiting = tasks[Symbol.iterator]();
      const under = new Map<ChildProcess, Promise<{ child: ChildProcess; outcome: Outcome }>>();
      const begin = (child: ChildProcess): void => {
        const next = waiting.next();
        if (next.done === true) return void under.delete(child);
        const result = carryOut(child, next.value).then((outcome) => ({ child, outcome }));
        // Nobody waits for it where the fleet is closed before its end.
        result.catch(() => undefined);
        under.set(child, result);
      };
      children.forEach(begin);
      while (under.size > 0) {
        const { child, outcome } = await Promise.race(under.values());
        begin(child);
        yield outcome;
      }
    },
    close() {
      for (const child of children) child.kill();
    },
  };
}

function carryOut(child: ChildProcess, task: Task): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null): void => reject(new Error(`The process of seed ${task.seed} ended: ${code}.`));
    child.once('exit', ended);
    child.once('message', (outcome) => {
      child.off('exit', ended);
      resolve(outcome as Outcome);
    });
    child.send(task);
  });
}
