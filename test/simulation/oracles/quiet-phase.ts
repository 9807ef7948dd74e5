/** What the phase without faults is given to work with, for one account. */
import type { Sandbox } from '../../../src/sandbox/service.ts';
import type { RunReport } from '../../../src/sync/run.ts';
import type { Auditor } from './auditor.ts';
import type { EventLog } from './event-log.ts';
import type { Follower } from './follower.ts';
import type { Supervisor } from '../machine/supervisor.ts';
import type { Plan } from '../plan/plan.ts';
import type { Network } from '../machine/network.ts';
import type { Timeline } from '../machine/timeline.ts';
import type { Trace } from '../machine/trace.ts';

export interface QuietPhase {
  readonly account: string;
  readonly plan: Plan;
  readonly timeline: Timeline;
  readonly supervisor: Supervisor;
  readonly network: Network;
  readonly sandbox: Sandbox;
  readonly eventLog: EventLog;
  readonly follower: Follower;
  readonly auditor: Auditor;
  /** Runs on the account that ended, oldest first. */
  readonly runs: readonly RunReport[];
  readonly trace: Trace;
  readonly broken: (promise: string, what: string) => void;
}
