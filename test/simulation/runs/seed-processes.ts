/** Several processes that simulate, each one seed at a time. */
import { fork, type ChildProcess } from 'node:child_process';
import type { NumberedOutcome, NumberedTask, Task } from './seed-process.ts';
import type { Outcome } from './simulate.ts';

export interface SeedProcesses {
  /** The outcomes of all tasks as they come, in any order; what is not taken is not begun. */
  run(tasks: Iterable<Task>): AsyncGenerator<Outcome>;
  close(): void;
}

const root = new URL('../../..', import.meta.url).pathname;
const program = new URL('seed-process.ts', import.meta.url).pathname;

interface SeedProcess {
  readonly child: ChildProcess;
  seeds: number;
}

/** Simulated processes that were killed leave unsettled promises behind: after so many seeds, a new process takes over. */
const seedsPerProcess = 800;

/**
 * With a process for each core, what helps one from aside is taken from another; most of what is made lives no longer than its
 * seed; and what little runs often is not worth much of the compiler's time.
 */
const engine = ['--single-threaded', '--max-semi-space-size=64', '--max-inlined-bytecode-size-cumulative=300'];

/** Starts `jobs` processes. */
export function startSeedProcesses(jobs: number): SeedProcesses {
  const execArgv = [...engine, '--import', `${root}.config/typescript-loader.js`];
  const start = (): SeedProcess => ({ child: fork(program, { cwd: root, execArgv }), seeds: 0 });
  const seedProcesses = Array.from({ length: jobs }, start);
  return {
    async *run(tasks) {
      const waiting = tasks[Symbol.iterator]();
      const under = new Map<number, Promise<{ index: number; outcome: Outcome }>>();
      const begin = (index: number): void => {
        const next = waiting.next();
        if (next.done === true) return void under.delete(index);
        const seedProcess = seedProcesses[index]!;
        const result = carryOut(seedProcess.child, next.value).then((outcome) => ({ index, outcome }));
        seedProcess.seeds += 1;
        // It is not awaited if the processes are closed before its end.
        result.catch(() => undefined);
        under.set(index, result);
      };
      seedProcesses.forEach((_, index) => begin(index));
      while (under.size > 0) {
        const { index, outcome } = await Promise.race(under.values());
        if (seedProcesses[index]!.seeds >= seedsPerProcess) {
          seedProcesses[index]!.child.kill();
          seedProcesses[index] = start();
        }
        begin(index);
        yield outcome;
      }
    },
    close() {
      for (const { child } of seedProcesses) child.kill();
    },
  };
}

/** All outcomes, in any order. */
export async function outcomes(processes: SeedProcesses, tasks: readonly Task[]): Promise<Outcome[]> {
  const all: Outcome[] = [];
  for await (const outcome of processes.run(tasks)) all.push(outcome);
  return all;
}

let tasks = 0;

function carryOut(child: ChildProcess, task: Task): Promise<Outcome> {
  const number = (tasks += 1);
  return new Promise((resolve, reject) => {
    const ended = (code: number | null): void => reject(new Error(`The process of seed ${task.seed} ended: ${code}.`));
    // A test that timed out may have left a task behind, whose outcome comes first.
    const told = (answer: NumberedOutcome): void => {
      if (answer.number !== number) return;
      child.off('exit', ended);
      child.off('message', told);
      resolve(answer.outcome);
    };
    child.once('exit', ended);
    child.on('message', told);
    child.send({ number, task } satisfies NumberedTask);
  });
}
