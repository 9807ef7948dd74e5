/** What happens to the process and its machine while there are faults: when, and how bad. */
import { seededRandom, seedOf } from '../../../src/sandbox/core/random.ts';
import type { Sandbox } from '../../../src/sandbox/service.ts';
import type { Supervisor } from '../machine/supervisor.ts';
import { publicUrl } from '../plan/accounts.ts';
import type { Plan } from '../plan/plan.ts';
import type { Network } from '../machine/network.ts';
import type { Timeline } from '../machine/timeline.ts';
import type { Trace } from '../machine/trace.ts';
import type { Server, WorldStore } from '../machine/world-store.ts';

export interface FaultSurroundings {
  readonly plan: Plan;
  readonly timeline: Timeline;
  readonly supervisor: Supervisor;
  /** Of the second process, where there is one. */
  readonly second: Supervisor | undefined;
  readonly store: WorldStore;
  readonly network: Network;
  readonly accounts: readonly string[];
  readonly sandbox: Sandbox;
  readonly trace: Trace;
}

const minute = 60_000;

/** Plans all troubles of the safety phase. */
export function planFaults(surroundings: FaultSurroundings): void {
  const { plan, timeline, supervisor, second, store, network, accounts, sandbox, trace } = surroundings;
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
  sometime(plan.jumps, 'jump', () => {
    const ms = (random.below(2 * 86_400) - 86_400) * 1_000;
    supervisor.shiftWall(ms);
    second?.shiftWall(ms);
  });
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
  if (store.server) planServerFaults(surroundings, store.server);
}

/** From a stream of their own: what else happens is the same with a file. */
function planServerFaults({ plan, timeline, supervisor, second, trace }: FaultSurroundings, server: Server): void {
  const random = seededRandom(seedOf(plan.seed, 'server troubles'));
  const length = plan.minutes * minute;
  const { cuts, serverRestarts, serverAway } = plan.server;
  for (let nth = 0; nth < cuts; nth += 1)
    timeline.timer(random.below(length), () => {
      const cutOff = second && random.happens(0.3) ? second : supervisor;
      if (random.happens(0.8)) cutOff.cut(1 + random.below(10));
      else server.cutAll();
    });
  for (let nth = 0; nth < serverRestarts; nth += 1)
    timeline.timer(random.below(length), () => {
      trace.write('server restarts');
      server.restart(random.below(serverAway * 1_000));
    });
  if (!second) return;
  timeline.timer(random.below(length / 2), () => second.start());
  // Longer than a process may be silent.
  for (const one of [supervisor, second])
    timeline.timer(random.below(length), () => one.clock.pause(random.below(2 * minute), false));
}
