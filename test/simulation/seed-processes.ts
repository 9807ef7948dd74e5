/** Several processes that simulate, each one seed at a time. */
import { fork, type ChildProcess } from 'node:child_process';
import type { Task } from './seed-process.ts';
import type { Outcome } from './simulate.ts';

export interface Fleet {
  /** The outcomes of all tasks as they come, in any order; what is not taken is not begun. */
  run(tasks: Iterable<Task>): AsyncGenerator<Outcome>;
  close(): void;
}

const root = new URL('../..', import.meta.url).pathname;
const crew = new URL('seed-process.ts', import.meta.url).pathname;

interface Hand {
  readonly child: ChildProcess;
  seeds: number;
}

/** Lives that were killed leave promises behind that nobody keeps; a process that simulated so many seeds makes room for a new one. */
const stint = 800;

/**
 * With a process for each core, what helps one from aside is taken from another; most of what is made lives no longer than its
 * seed; and what little runs often is not worth much of the compiler's time.
 */
const engine = ['--single-threaded', '--max-semi-space-size=64', '--max-inlined-bytecode-size-cumulative=300'];

/** Starts `jobs` processes. */
export function launch(jobs: number): Fleet {
  const execArgv = [...engine, '--import', `${root}.config/typescript-loader.js`];
  const hire = (): Hand => ({ child: fork(crew, { cwd: root, execArgv }), seeds: 0 });
  const hands = Array.from({ length: jobs }, hire);
  return {
    async *run(tasks) {
      const waiting = tasks[Symbol.iterator]();
      const under = new Map<number, Promise<{ place: number; outcome: Outcome }>>();
      const begin = (place: number): void => {
        const next = waiting.next();
        if (next.done === true) return void under.delete(place);
        const hand = hands[place]!;
        const result = carryOut(hand.child, next.value).then((outcome) => ({ place, outcome }));
        hand.seeds += 1;
        // Nobody waits for it where the fleet is closed before its end.
        result.catch(() => undefined);
        under.set(place, result);
      };
      hands.forEach((_, place) => begin(place));
      while (under.size > 0) {
        const { place, outcome } = await Promise.race(under.values());
        if (hands[place]!.seeds >= stint) {
          hands[place]!.child.kill();
          hands[place] = hire();
        }
        begin(place);
        yield outcome;
      }
    },
    close() {
      for (const { child } of hands) child.kill();
    },
  };
}

/** All outcomes, in any order. */
export async function outcomes(fleet: Fleet, tasks: readonly Task[]): Promise<Outcome[]> {
  const all: Outcome[] = [];
  for await (const outcome of fleet.run(tasks)) all.push(outcome);
  return all;
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
