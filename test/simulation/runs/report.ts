/** Runs many seeds, and gives an account of them: what broke, made small, and what was reached. */
import { Coverage, type Met } from './coverage.ts';
import type { SeedProcesses } from './seed-processes.ts';
import { shortfalls } from './minimum-coverage.ts';
import { drawnBy, wordsOf, type Drawn } from '../plan/plan.ts';
import { joined, type Reach } from './reach.ts';
import { foundBy, type SimulatedFault } from '../plan/planted-faults.ts';
import { shrink } from './shrink.ts';
import type { Outcome } from './simulate.ts';

export interface Campaign {
  readonly processes: SeedProcesses;
  readonly from: number;
  readonly seeds: number;
  /** The knobs to turn, where the seeds shall not draw their own. */
  readonly knobs: Drawn | undefined;
  /** What is planted, if anything is: then the seed that finds it ends it. */
  readonly fault: SimulatedFault | undefined;
  /** As `simulate` takes it. */
  readonly postgres: string | undefined;
}

/** Failing seeds that are made small; more of them seldom teach more. */
const mostShrunk = 3;
const noteEvery = 1_000;

/** @returns whether all is well: nothing broke and enough was reached, or the planted fault was found. */
export async function account({ processes, from, seeds, knobs, fault, postgres }: Campaign): Promise<boolean> {
  const tasks = Array.from({ length: seeds }, (_, index) => ({
    seed: from + index,
    knobs,
    fault: fault?.name,
    until: fault?.promise,
    postgres,
  }));
  const coverage = new Coverage();
  const failed: Outcome[] = [];
  let reach: Reach = {};
  let done = 0;
  for await (const outcome of processes.run(tasks)) {
    done += 1;
    reach = joined(reach, outcome.reach);
    if (!knobs) coverage.add(drawnBy(outcome.seed, postgres !== undefined));
    if (outcome.broken.length > 0) {
      failed.push(outcome);
      console.log(`seed ${outcome.seed}`, outcome.broken);
      if (fault && foundBy(fault.promise, outcome.broken)) break;
    }
    if (done % noteEvery === 0) console.log(`${done} seeds, ${failed.length} failed`);
  }
  if (fault) {
    const finder = failed.find(({ broken }) => foundBy(fault.promise, broken));
    console.log(finder ? `${fault.name}: found by seed ${finder.seed}` : `${fault.name}: NOT FOUND`);
    return finder !== undefined;
  }
  console.log(
    `${done} seeds, ${failed.length} failed; ${reach['requests'] ?? 0} requests, ${reach['runs complete'] ?? 0} complete runs`,
  );
  for (const outcome of failed.slice(0, mostShrunk)) await small(processes, outcome, knobs, postgres);
  const missing = knobs ? [] : shortfalls(reach, done, coverage);
  if (!knobs) console.log(`pairs of values met: ${shown(coverage.pairs)}; triples: ${shown(coverage.triples)}`);
  for (const what of missing) console.log(`TOO LITTLE: ${what}`);
  return failed.length === 0 && missing.length === 0;
}

async function small(
  processes: SeedProcesses,
  { seed, broken }: Outcome,
  knobs: Drawn | undefined,
  postgres: string | undefined,
): Promise<void> {
  const promise = broken[0]?.slice(0, 2) ?? '';
  const words = wordsOf(await shrink(processes, { seed, promise, postgres }, knobs));
  console.log(
    `${promise} again: npm run simulate -- --from ${seed} --knobs "${words}" --trace${postgres === undefined ? '' : ` --postgres ${postgres}`}`,
  );
}

function shown({ met, of }: Met): string {
  return `${met} of ${of} (${((100 * met) / of).toFixed(2)} %)`;
}
