/** One process of a fleet: runs what it is told to, one seed after the other, and tells what came of it. */
import { planOf, type Drawn } from './plan.ts';
import type { Change } from './planted-faults.ts';
import * as plain from './simulate.ts';

export interface Task {
  readonly seed: number;
  /** The knobs to turn, if the seed shall not draw its own. */
  readonly knobs?: Drawn | undefined;
  /** What is planted in the program, if it shall not run as it is. */
  readonly planted?: readonly Change[] | undefined;
}

// Making a stack is most of what an error costs, and errors are what a simulation is about.
Error.stackTraceLimit = 3;

process.on('message', (task: Task) => {
  void carryOut(task).then((outcome) => process.send?.(outcome));
});

async function carryOut({ seed, knobs, planted }: Task): Promise<plain.Outcome> {
  const { simulate } = planted ? await simulationWith(planted) : plain;
  return simulate(planOf(seed, knobs));
}

function simulationWith(planted: readonly Change[]): Promise<typeof plain> {
  const query = new URLSearchParams({ planted: JSON.stringify(planted) });
  return import(`./simulate.ts?${query.toString()}`) as Promise<typeof plain>;
}
