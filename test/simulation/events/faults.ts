/** What happens to the process and its machine while there are faults: when, and how bad. */
import { seededRandom, seedOf } from '../../../src/sandbox/core/random.ts';
import type { Sandbox } from '../../../src/sandbox/service.ts';
import type { Supervisor } from '../machine/supervisor.ts';
import { publicUrl } from '../plan/accounts.ts';
import type { Plan } from '../plan/plan.ts';
import type { Network } from '../machine/network.ts';
import type { Timeline } from '../machine/timeline.ts';
import type { Trace } from '../machine/trace.ts';
import type { WorldStore } from '../machine/world-store.ts';

export interface FaultSurroundings {
  readonly plan: Plan;
  readonly timeline: Timeline;
  readonly supervisor: Supervisor;
  readonly store: WorldStore;
  readonly network: Network;
  readonly accounts: readonly string[];
  readonly sandbox: Sandbox;
  readonly trace: Trace;
}

const minute = 60_000;

/** Plans all troubles of the safety phase. */
export function planFaults(surroundings: FaultSurroundings): void {
  const { plan, timeline, supervisor, store, network, accounts, sandbox, trace } = surroundings;
  const random = seededRandom(seedOf(plan.seed, 'troubles'));
  const length = plan.minutes * minute;
  const sometime = (times: number, what: string, happen: () => void): void => {
    for (let nth = 0; nth < times; nth += 1)
      timeline.timer(random.below(length), () => {
        trace.write(what);
        happen();
      });
  };
  // The first minute is the handshake's and the first pull's.
  for (let nth = 0; nth < plan.crashes; nth += 1) {
    const edges = random.happens(0.8) ? 1 + random.below(40) : 0;
    timeline.timer(random.below(random.happens(0.5) ? minute : length), () => supervisor.crash(edges));
  }
  sometime(plan.restarts, 'restart', () => supervisor.restart());
  sometime(plan.stops, 'stopped', () => supervisor.clock.pause(random.below(3 * minute), false));
  sometime(plan.suspends, 'suspended', () => supervisor.clock.pause(random.below(10 * minute), true));
  sometime(plan.jumps, 'jump', () => supervisor.shiftWall((random.below(2 * 86_400) - 86_400) * 1_000));
  sometime(plan.busy, 'locked', () => (store.lockedUntil = timeline.now + random.below(40_000)));
  sometime(plan.full, 'full', () => (store.fullUntil = timeline.now + random.below(2 * minute)));
  const { outage } = plan;
  if (outage !== 'none') {
    // Some have no access from the very start, before anything is known.
    const begin = random.happens(0.25) ? 0 : random.below(length);
    timeline.timer(begin, () => (network.outage = outage));
    timeline.timer(begin + plan.outageMinutes * minute, () => (network.outage = undefined));
  }
  sometime(plan.callbackLost === 'no' ? 0 : 1, `callback ${plan.callbackLost}`, () => {
    for (const callbacks of accounts.map((account) => sandbox.callbacks(account)))
      for (const { id, uri } of callbacks.all()) {
        if (!uri.startsWith(publicUrl)) continue;
        if (plan.callbackLost === 'removed') callbacks.remove(id);
        else callbacks.disable(timeline.clock.now(), id);
      }
  });
}
