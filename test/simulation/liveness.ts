/** The phase without faults: everything comes right within one reconciliation, and a change is told by webhook (P1). */
import type { CallbackRecord } from '../../src/sandbox/callback-book.ts';
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
/** A code that never came is asked for again after ten minutes, and a look follows each interval. */
const mended = 40 * minute;
/** A delivery's own time, the guard, and a reading; where copies lag, a second look comes on top. */
const prompt = 20_000;
/** Where sixty requests a minute are allowed, a run may have used them. */
const turn = 65_000;

/** @returns whether a change was told by webhook in the end, and not only found. */
export async function comeRight(scene: Aftermath): Promise<boolean> {
  const { plan, timeline, auditor, broken, household, trace } = scene;
  const runsAgain = (): boolean => household.life !== undefined && household.clock.paused === 0;
  if (!(await timeline.until(runsAgain, 15 * minute))) {
    broken('P1', 'the process does not start again');
    return false;
  }
  // What lags has caught up.
  await timeline.pass(10_000);
  trace.say('calm');
  auditor.look();
  const begun = timeline.now;
  const report = await wholeRun(scene);
  if (!report) {
    broken('P1', `no run began and ended within ${longest / minute} minutes`);
    return false;
  }
  if (report.error?.code === 'paging_ignored' && looksBlind(plan)) return false;
  if (isBlind(scene)) {
    if (report.error?.code !== 'paging_ignored' && report.outcome === 'complete' && auditor.behind(begun).length > 0)
      broken('P1', 'a list that ignores its page parameter was called complete');
    return false;
  }
  if (report.error?.code === 'breaker_tripped') await approve(scene);
  else if (report.outcome !== 'complete') {
    broken('P1', `a run without faults ended ${report.outcome}: ${report.error?.message ?? ''}`);
    return false;
  }
  await timeline.pass(settling);
  auditor.look();
  for (const gap of auditor.behind(timeline.now)) broken('P1', gap);
  const told = await canary(scene);
  await nothingLeft(scene);
  return told;
}

/**
 * The first run that began now or later and says something. Where each request has an order of its own, and vendors that nobody may
 * read are counted, a first walk of many unknown vendors may use up its passes, and the next run, which knows them, is whole.
 */
async function wholeRun({ plan, timeline, auditor, runs }: Aftermath): Promise<RunReport | undefined> {
  const last = auditor.lastRun;
  const mayNeedAnother = plan.world.order === 'shuffled' && plan.world.unlistedIds + hiddenIn(plan) > 0;
  const telling = (): RunReport[] =>
    runs.filter(({ run, error }, index) => {
      if (run.id <= last) return false;
      const before = runs.slice(0, index).filter((earlier) => earlier.run.id > last).length;
      return !(mayNeedAnother && error?.code === 'sweep_incomplete' && before < 2);
    });
  await timeline.until(() => telling().length > 0, longest);
  return telling()[0];
}

/** Whether `total` counts vendors that lists do not show. */
function hiddenIn({ world }: Plan): number {
  return world.total === 'counts_hidden' && world.listDeleted === 'hidden' ? 1 : 0;
}

/** Whether the service shows nothing past its first page. */
function isBlind({ plan, chronicle }: Aftermath): boolean {
  const perPage = { ignored: 15, capped: plan.rows, honoured: plan.rows, all: Infinity }[plan.world.perPage];
  return plan.world.paging !== 'honoured' && chronicle.vendors.length + plan.world.unlistedIds > perPage;
}

/**
 * Where more are counted than shown, a list of one short page looks like one whose page parameter is ignored: a page past the last is
 * answered with the last, or happens to show the same few in an order of its own. Nobody can tell them apart, and nothing is concluded.
 */
function looksBlind(plan: Plan): boolean {
  const { pastEnd, order, unlistedIds } = plan.world;
  return (pastEnd === 'last' || order === 'shuffled') && unlistedIds + hiddenIn(plan) > 0;
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

/** Nothing is given up for good: a reconciliation reads it again; the second one, if one more delivery came just before the first. */
async function nothingLeft({ timeline, auditor, runs, broken }: Aftermath): Promise<void> {
  const parked = new Set(auditor.parked());
  if (parked.size === 0) return;
  const last = auditor.lastRun;
  const reconciled = (): number =>
    runs.filter(({ run, outcome }) => run.id > last && run.kind === 'reconcile' && outcome === 'complete').length;
  if (!(await timeline.until(() => reconciled() >= 2, longest))) return;
  for (const vendorid of auditor.parked().filter((still) => parked.has(still)))
    broken('P1', `vendor ${vendorid} was given up for good`);
}

/** Whether a delivery would reach us; of a callback that is disabled and does not show it, nobody can know. */
async function hears({ plan, timeline, sandbox, auditor, broken, trace }: Aftermath): Promise<boolean> {
  const ours = (): CallbackRecord[] =>
    sandbox
      .callbacks(account)
      .all()
      .filter(({ uri }) => uri.startsWith(publicUrl));
  const heard = (): boolean => ours().some(({ verified, disabled }) => verified && !disabled);
  if (await timeline.until(heard, mended)) return true;
  trace.say('deaf', JSON.stringify(ours().map(({ verified, disabled }) => ({ verified, disabled }))));
  const hidden = plan.world.disabled === 'silent' && ours().some(({ disabled }) => disabled);
  if (!hidden && !auditor.registeredEnough()) broken('P1', 'the callback is not mended');
  return false;
}

/** An edit by somebody, that a delivery tells of. @returns whether there was one. */
async function canary(scene: Aftermath): Promise<boolean> {
  const { plan, timeline, sandbox, auditor, runs, broken, trace, chronicle } = scene;
  if (!(await hears(scene)) || plan.world.objectId === 'callback') return false;
  const desk = sandbox.vendors(account);
  const alive = desk.all().find((wire) => Number(wire['vis_state']) === 0);
  if (!alive) return false;
  // Between two reconciliations, so that none of them brings it.
  const last = runs.length;
  await timeline.until(() => runs.length > last && runs.at(-1)!.trigger === 'schedule', 2 * interval * minute);
  await timeline.pass(10_000);
  const vendorid = Number(alive['vendorid']);
  desk.edit(vendorid, { phone: '+1 canary' });
  trace.say('canary', vendorid);
  const due = chronicle.at(vendorid, timeline.now);
  const lags = plan.world.listLag + plan.world.readLag > 0;
  const before = runs.length;
  await timeline.pass(prompt + (lags ? settling : 0) + (plan.vendorsRate < 600 ? turn : 0));
  // Where no vendor is read by number, a whole sweep answers; the next reconciliation is later than this.
  if (plan.world.readOne !== 'yes')
    await timeline.until(() => runs.slice(before).some(({ trigger }) => trigger === 'queue'), 3 * minute);
  auditor.look();
  if ((auditor.held.get(vendorid)?.chapter ?? -1) < due)
    broken('P1', 'a change that was told by webhook did not arrive');
  return true;
}
