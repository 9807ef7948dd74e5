/** One process of a fleet: runs what it is told to, one seed after the other, and tells what came of it. */
import { planOf, type Drawn } from './plan.ts';
import { simulate } from './simulate.ts';

/** A seed, with the knobs to turn if it shall not draw its own. */
export interface Task {
  readonly seed: number;
  readonly knobs?: Drawn | undefined;
}

// Making a stack is most of what an error costs, and errors are what a simulation is about.
Error.stackTraceLimit = 3;

process.on('message', ({ seed, knobs }: Task) => {
  void simulate(planOf(seed, knobs)).then((outcome) => process.send?.(outcome));
});
