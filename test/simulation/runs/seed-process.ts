/** One process of a processes: runs what it is told to, one seed after the other, and tells what came of it. */
import { loadWith } from '../../support/source/planted-fault.ts';
import { drawnBy, planOf, type Drawn } from '../plan/plan.ts';
import { list, plantedFaults } from '../plan/planted-faults.ts';
import * as plain from './simulate.ts';

export interface Task {
  readonly seed: number;
  /** The knobs to turn, if the seed shall not draw its own. */
  readonly knobs?: Drawn | undefined;
  /** The name of a fault to plant, if the program shall not run as it is. */
  readonly fault?: string | undefined;
  /** The promise whose breach ends the simulation; without it, it goes on to its end. */
  readonly until?: string | undefined;
  /** As `simulate` takes it. */
  readonly postgres?: string | undefined;
}

export interface NumberedTask {
  readonly number: number;
  readonly task: Task;
}

export interface NumberedOutcome {
  readonly number: number;
  readonly outcome: plain.Outcome;
}

// Making a stack is most of what an error costs, and errors are what a simulation is about.
Error.stackTraceLimit = 3;

process.on('message', ({ number, task }: NumberedTask) => {
  void carryOut(task).then((outcome) => process.send?.({ number, outcome } satisfies NumberedOutcome));
});

async function carryOut({ seed, knobs, fault, until, postgres }: Task): Promise<plain.Outcome> {
  const planted = plantedFaults.find(({ name }) => name === fault);
  const { simulate } = planted
    ? await loadWith<typeof plain>(new URL('simulate.ts', import.meta.url), planted, list)
    : plain;
  return simulate(planOf(seed, knobs ?? drawnBy(seed, postgres !== undefined)), { until, postgres });
}
