/** The phase without faults: everything comes right within one reconciliation, and a change is told by webhook (P1). */
import type { Sandbox } from '../../src/sandbox/service.ts';
import type { RunReport } from '../../src/sync/pull.ts';
import type { Auditor } from './auditor.ts';
import type { Chronicle } from './chronicle.ts';
import type { Household } from './household.ts';
import { interval } from './life.ts';
import { account, publicUrl } from './names.ts';
import type { Plan } from './plan.ts';
import type { Timeline } from './timeline.ts';
import type { Trace } from './trace.ts';

export interface Aftermath {
  readonly plan: Plan;
  readonly timeline: Timeline;
  readonly household: Household;
  readonly sandbox: Sandbox;
  readonly chronicle: Chronicle;
  readonly auditor: Auditor;
  readonly runs: readonly RunReport[];
  readonly trace: Trace;
  readonly broken: (promise: string, what: string) => void;
}

const minute = 60_000;
/**
 * A run that hung when the faults stopped has its patience to lose first, one that was too long rests for an interval, and many
 * small pages in random order take long at sixty requests a minute.
 */
const longest = 60 * minute;
/** The guard, the second look, and the requests in between. */
const settling = 45_000;
/** A delivery's own time, the guard, and a reading; where copies lag, a second look comes on top. */
const prompt = 20_000;

export async function comeRight(scene: Aftermath): Promise<void> {
  const { timeline, auditor, runs, broken, household, trace } = scene;
  const runsAgain = (): boolean => household.life !== undefined && household.clock.paused === 0;
  if (!(await timeline.until(runsAgain, 15 * minute))) {
    broken('P1', 'the process does not start again');
    return;
  }
  // What lags has caught up.
  await timeline.pass(10_000);
  trace.say('calm');
  auditor.look();
  const begun = timeline.now;
  const last = auditor.lastRun;
  const whole = (): RunReport | undefined => runs.find(({ run }) => run.id > last);
  const ended = await timeline.until(() => whole() !== undefined, longest);
  const report = whole();
  if (!ended || !report) {
    broken('P1', `no run began and ended within ${longest / minute} minutes`);
    return;
  }
  if (isBlind(scene)) {
    if (report.error?.code !== 'paging_ignored' && report.outcome === 'complete' && auditor.behind(begun).length > 0)
      broken('P1', 'a list that ignores its page parameter was called complete');
    return;
  }
  if (report.error?.code === 'breaker_tripped') await approve(scene);
  else if (report.outcome !== 'complete') {
    broken('P1', `a run without faults ended ${report.outcome}: ${report.error?.message ?? ''}`);
    return;
  }
  await timeline.pass(settling);
  auditor.look();
  for (const gap of auditor.behind(timeline.now)) broken('P1', gap);
  await canary(scene);
}

/** Whether the service shows nothing past its first page. */
function isBlind({ plan, chronicle }: Aftermath): boolean {
  const perPage = { ignored: 15, capped: plan.rows, honoured: plan.rows, all: Infinity }[plan.world.perPage];
  return plan.world.paging !== 'honoured' && chronicle.vendors.length + plan.world.unlistedIds > perPage;
}

/** A person looks at what the breaker holds back, and allows it. */
async function approve({ household, auditor, timeline, broken, trace }: Aftermath): Promise<void> {
  const { life } = household;
  if (!life) return;
  trace.say('approve');
  auditor.allowed = true;
  let outcome: string | undefined;
  void life.installation
    .pull(account, { kind: 'reconcile', trigger: 'command', signal: new AbortController().signal, approved: 10_000 })
    .then((summary) => (outcome = summary.error?.message ?? summary.outcome));
  await timeline.until(() => outcome !== undefined, longest);
  if (outcome !== 'complete') broken('P1', `an approved reconciliation ended: ${outcome ?? 'never'}`);
}

/** An edit by somebody, that a delivery tells of. */
async function canary({ plan, timeline, sandbox, auditor, runs, broken, trace, chronicle }: Aftermath): Promise<void> {
  const callbacks = sandbox
    .callbacks(account)
    .all()
    .filter(({ uri }) => uri.startsWith(publicUrl));
  const hears = callbacks.some(({ verified, disabled }) => verified && !disabled);
  if (!hears) {
    trace.say('deaf', JSON.stringify(callbacks.map(({ verified, disabled }) => ({ verified, disabled }))));
    return;
  }
  if (plan.world.objectId === 'callback') return;
  const desk = sandbox.vendors(account);
  const alive = desk.all().find((wire) => Number(wire['vis_state']) === 0);
  if (!alive) return;
  // Between two reconciliations, so that none of them brings it.
  const last = runs.length;
  await timeline.until(() => runs.length > last && runs.at(-1)!.trigger === 'schedule', 2 * interval * minute);
  await timeline.pass(10_000);
  const vendorid = Number(alive['vendorid']);
  desk.edit(vendorid, { phone: '+1 canary' });
  trace.say('canary', vendorid);
  const due = chronicle.at(vendorid, timeline.now);
  const lags = plan.world.listLag + plan.world.readLag > 0;
  await timeline.pass(lags ? prompt + settling : prompt);
  auditor.look();
  if ((auditor.held.get(vendorid)?.chapter ?? -1) < due)
    broken('P1', 'a change that was told by webhook did not arrive');
}
