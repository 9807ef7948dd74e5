/** What a simulation came to: without it, a green result may mean that nothing happened. */
import type { RunReport } from '../../src/sync/run/run.ts';
import type { EventLog } from './event-log.ts';
import type { Follower } from './follower.ts';
import type { Supervisor } from './supervisor.ts';
import type { Convergence } from './liveness.ts';
import type { DeliveryOracle } from './delivery-oracle.ts';
import type { Person } from './person.ts';
import type { Plan } from './plan.ts';
import type { Network } from './network.ts';

/** How often each thing happened, by name. */
export type Reach = Readonly<Record<string, number>>;

export interface Observations {
  readonly plan: Plan;
  readonly network: Network;
  readonly deliveryOracle: DeliveryOracle;
  readonly supervisor: Supervisor;
  readonly eventLogs: readonly EventLog[];
  readonly followers: readonly Follower[];
  readonly runs: readonly RunReport[];
  readonly people: readonly Person[];
  readonly convergences: readonly Convergence[];
}

export function reachOf({
  plan,
  network,
  deliveryOracle,
  supervisor,
  eventLogs,
  followers,
  runs,
  people,
  convergences,
}: Observations): Reach {
  const count = (list: readonly unknown[]): number => list.length;
  const sum = (numbers: readonly number[]): number => numbers.reduce((all, number) => all + number, 0);
  return {
    ...Object.fromEntries(Object.entries(plan.drawn).map(([name, value]) => [`knob ${name}=${value}`, 1])),
    ...Object.fromEntries([...network.met].map(([kind, times]) => [`fault ${kind}`, times])),
    ...Object.fromEntries([...deliveryOracle.outcomes].map(([outcome, times]) => [`delivery ${outcome}`, times])),
    ...Object.fromEntries([...supervisor.verdicts].map(([kind, times]) => [`reading ${kind}`, times])),
    ...Object.fromEntries(Object.entries(supervisor.counts).map(([what, times]) => [`process ${what}`, times])),
    'runs complete': count(runs.filter(({ outcome }) => outcome === 'complete')),
    'runs partial': count(runs.filter(({ outcome, counts }) => outcome !== 'complete' && counts.pages > 0)),
    'runs tripped': count(runs.filter(({ error }) => error?.code === 'breaker_tripped')),
    'writes said': sum(people.map(({ intents }) => intents.length)),
    'writes done': sum(people.flatMap(({ intents }) => intents.map(({ told }) => told.length))),
    'writes sent': sum(people.flatMap(({ intents }) => intents.map(({ calls }) => calls.length))),
    probes: count(convergences.filter(({ told }) => told)),
    renewals: count(convergences.filter(({ renewed }) => renewed)),
    absences: sum(followers.map(({ absences }) => absences)),
    'double edits in a second': sum(eventLogs.map(({ doubles }) => doubles.size)),
    requests: count(network.arrivals),
  };
}

/** Adds what another seed came to. */
export function joined(one: Reach, other: Reach): Reach {
  const sum: Record<string, number> = { ...one };
  for (const [what, times] of Object.entries(other)) sum[what] = (sum[what] ?? 0) + times;
  return sum;
}
