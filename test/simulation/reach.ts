/** What a simulation came to: without it, a green result may mean that nothing happened. */
import type { RunReport } from '../../src/sync/run/run.ts';
import type { Chronicle } from './event-log.ts';
import type { Follower } from './follower.ts';
import type { Supervisor } from './supervisor.ts';
import type { Calm } from './liveness.ts';
import type { Mailbox } from './delivery-oracle.ts';
import type { Person } from './person.ts';
import type { Plan } from './plan.ts';
import type { Network } from './network.ts';

/** How often each thing happened, by name. */
export type Reach = Readonly<Record<string, number>>;

export interface Witnesses {
  readonly plan: Plan;
  readonly network: Network;
  readonly mailbox: Mailbox;
  readonly supervisor: Supervisor;
  readonly eventLogs: readonly Chronicle[];
  readonly followers: readonly Follower[];
  readonly runs: readonly RunReport[];
  readonly people: readonly Person[];
  readonly calms: readonly Calm[];
}

export function reachOf({
  plan,
  network,
  mailbox,
  supervisor,
  eventLogs,
  followers,
  runs,
  people,
  calms,
}: Witnesses): Reach {
  const count = (list: readonly unknown[]): number => list.length;
  const sum = (numbers: readonly number[]): number => numbers.reduce((all, number) => all + number, 0);
  return {
    ...Object.fromEntries(Object.entries(plan.drawn).map(([name, value]) => [`knob ${name}=${value}`, 1])),
    ...Object.fromEntries([...network.met].map(([kind, times]) => [`fault ${kind}`, times])),
    ...Object.fromEntries([...mailbox.outcomes].map(([outcome, times]) => [`delivery ${outcome}`, times])),
    ...Object.fromEntries([...supervisor.verdicts].map(([kind, times]) => [`reading ${kind}`, times])),
    ...Object.fromEntries(Object.entries(supervisor.counts).map(([what, times]) => [`process ${what}`, times])),
    'runs complete': count(runs.filter(({ outcome }) => outcome === 'complete')),
    'runs partial': count(runs.filter(({ outcome, counts }) => outcome !== 'complete' && counts.pages > 0)),
    'runs tripped': count(runs.filter(({ error }) => error?.code === 'breaker_tripped')),
    'writes said': sum(people.map(({ intents }) => intents.length)),
    'writes done': sum(people.flatMap(({ intents }) => intents.map(({ told }) => told.length))),
    'writes sent': sum(people.flatMap(({ intents }) => intents.map(({ calls }) => calls.length))),
    canaries: count(calms.filter(({ told }) => told)),
    renewals: count(calms.filter(({ renewed }) => renewed)),
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
