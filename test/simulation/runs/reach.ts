/** What a simulation came to: without it, a green result may mean that nothing happened. */
import type { RunReport } from '../../../src/sync/run.ts';
import type { EventLog } from '../oracles/event-log.ts';
import type { Follower } from '../oracles/follower.ts';
import type { Supervisor } from '../machine/supervisor.ts';
import type { Convergence } from '../oracles/liveness.ts';
import type { DeliveryOracle } from '../oracles/delivery-oracle.ts';
import type { Person } from '../events/person.ts';
import type { Plan } from '../plan/plan.ts';
import type { Network } from '../machine/network.ts';
import type { Intent } from '../events/write-record.ts';

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
  const intents = people.flatMap((person) => person.intents);
  const calls = intents.flatMap((intent) => intent.calls);
  return {
    ...Object.fromEntries(Object.entries(plan.drawn).map(([name, value]) => [`knob ${name}=${value}`, 1])),
    ...Object.fromEntries([...network.met].map(([kind, times]) => [`fault ${kind}`, times])),
    ...Object.fromEntries([...deliveryOracle.outcomes].map(([outcome, times]) => [`delivery ${outcome}`, times])),
    ...Object.fromEntries([...supervisor.verdicts].map(([kind, times]) => [`reading ${kind}`, times])),
    ...Object.fromEntries(Object.entries(supervisor.counts).map(([what, times]) => [`process ${what}`, times])),
    ...Object.fromEntries(
      Object.entries(supervisor.meetings.counts).map(([what, times]) => [`meeting ${what}`, times]),
    ),
    'runs complete': count(runs.filter(isComplete)),
    ...Object.fromEntries(
      listAxes.map((axis) => [`runs complete ${axis}=${plan.world[axis]}`, count(runs.filter(isComplete))] as const),
    ),
    'runs partial': count(runs.filter(({ outcome, counts }) => outcome !== 'complete' && counts.pages > 0)),
    'runs tripped': count(runs.filter(({ error }) => error?.code === 'breaker_tripped')),
    'writes said': count(intents),
    'writes done': sum(intents.map(({ told }) => told.length)),
    'writes sent': count(calls),
    'writes unanswered': count(calls.filter(({ isAnswered }) => !isAnswered)),
    'writes sent again without a look': count(calls.filter(({ again }) => again)),
    'writes never done': count(intents.filter(({ told }) => told.length === 0)),
    'writes found done by a look': count(intents.filter(isFoundDone)),
    'looks for writes': sum(intents.map(({ looks }) => looks.length)),
    probes: count(convergences.filter(({ told }) => told)),
    renewals: count(convergences.filter(({ renewed }) => renewed)),
    absences: sum(followers.map(({ absences }) => absences)),
    'double edits in a second': sum(eventLogs.map(({ doubles }) => doubles.size)),
    requests: count(network.arrivals),
  };
}

/** What a service may say of its list, or leave out of it. */
const listAxes = ['total', 'pages', 'paging', 'listDeleted', 'listArchived'] as const;

function isComplete({ outcome }: RunReport): boolean {
  return outcome === 'complete';
}

/** Whether the person was told that it is done, although no answer said so: a look did. */
function isFoundDone({ told, calls }: Intent): boolean {
  return told.length > 0 && calls.length > 0 && calls.every(({ isAnswered }) => !isAnswered);
}

/** Adds what another seed came to. */
export function joined(one: Reach, other: Reach): Reach {
  const sum: Record<string, number> = { ...one };
  for (const [what, times] of Object.entries(other)) sum[what] = (sum[what] ?? 0) + times;
  return sum;
}
