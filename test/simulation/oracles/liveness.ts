/** The phase without faults: everything comes right within one reconciliation, and a change is told by webhook (P1). */
import { acceptAccount } from '../../../src/domain/reading.ts';
import type { RunReport } from '../../../src/sync/run.ts';
import type { RunSummary } from '../../../src/app/installation.ts';
import type { QuietPhase } from './quiet-phase.ts';
import { probeEdit, isReachable, settling } from './edit-probe.ts';
import { honoursStateFilter, rowsOnPage, type Plan } from '../plan/plan.ts';
import { renewed } from './renewal.ts';

const minute = 60_000;
/**
 * A run that hung when the faults stopped has its patience to lose first, one that was too long rests for an interval, and many
 * small pages in random order take long at sixty requests a minute.
 */
const longest = 60 * minute;
const day = 24 * longest;
/** Where chance decides what a run can tell, a person asks a few times. */
const mostApprovals = 5;
/** So many complete runs in succession without a version, after so many at most. */
const runsAtRest = 2;
const mostRunsUntilRest = 24;
/** What the phase without faults brought beside P1. */
export interface Convergence {
  /** A change was told by webhook, and not only found. */
  readonly told: boolean;
  /** The callback was verified again while a run was under way. */
  readonly renewed: boolean;
}

const nothing: Convergence = { told: false, renewed: false };

/** What is judged begins here: the process runs again, and what lagged has caught up. */
interface Calm {
  readonly began: number;
  /** The run of the account that began last before. */
  readonly lastRun: number;
}

/** Of several accounts, each is judged by its first runs in calm, also where they ended while another account was looked at. */
export async function converge(phases: readonly QuietPhase[]): Promise<Convergence[]> {
  const [{ timeline, broken, supervisor, trace }] = phases as readonly [QuietPhase];
  const runsAgain = (): boolean => supervisor.daemon !== undefined && supervisor.clock.paused === 0;
  if (!(await timeline.until(runsAgain, 15 * minute))) {
    broken('P1', 'the process does not start again');
    return [];
  }
  await timeline.pass(10_000);
  trace.write('calm');
  for (const { auditor } of phases) auditor.look();
  const calms = phases.map(({ follower }): Calm => ({ began: timeline.now, lastRun: follower.lastRun }));
  const convergences: Convergence[] = [];
  for (const [nth, phase] of phases.entries()) convergences.push(await convergeAccount(phase, calms[nth]!));
  return convergences;
}

async function convergeAccount(phase: QuietPhase, calm: Calm): Promise<Convergence> {
  const { plan, timeline, auditor, follower, broken, supervisor, trace } = phase;
  const report = await wholeRun(phase, calm.lastRun);
  if (!report) {
    broken('P1', `no run began and ended within ${longest / minute} minutes`);
    return nothing;
  }
  if (report.error?.code === 'paging_ignored' && (looksBlind(plan) || isBlind(phase, smallestPage))) return nothing;
  if (isBlind(phase)) {
    const isClaimed = report.outcome === 'complete' && auditor.withheld() === 0 && countsMore(phase);
    if (isClaimed && follower.behind(calm.began).length > 0)
      broken('P1', 'a list that ignores its page parameter was called complete');
    return nothing;
  }
  // Vendors that are counted, and that no list shows and no delivery named, need a person's word.
  const lacksWord = isShort(plan, report);
  if (lacksWord) await acceptCounted(phase);
  // So does an account of which the mirror knows nobody any more.
  const isReplaced = report.error?.remedy === acceptAccount;
  if (isReplaced && follower.findable.length > 0)
    broken('P1', `it is called another account, and vendor ${follower.findable.join()} is there`);
  if (lacksWord || isReplaced || report.error?.code === 'breaker_tripped' || auditor.withheld() > 0) {
    if (!(await approve(phase, isReplaced))) return nothing;
  } else if (report.outcome !== 'complete') {
    broken('P1', `a run without faults ended ${report.outcome}: ${report.error?.message ?? ''}`);
    return nothing;
  }
  await timeline.pass(settling);
  auditor.look();
  for (const gap of follower.behind(timeline.now, follower.unknowable)) broken('P1', gap);
  // What lists leave out is read after runs, where it is not known yet that they do one vendor at a time.
  if (!(await timeline.until(() => !auditor.hasWrongDetails(), longest))) {
    // All others are read once a day. The process is stopped for that long: runs that bring nothing would be most of a seed's time.
    trace.write('a day passes');
    supervisor.clock.pause(day, false);
    await timeline.pass(day);
    // Where sixty requests a minute are allowed, and lists take most of them, few vendors are read after each run.
    await timeline.until(() => !auditor.hasWrongDetails(), day);
  }
  for (const wrong of auditor.wrongDetails()) broken('P1', wrong);
  const { listedAs, readOne } = plan.world;
  if (listedAs !== 'whole' && readOne === 'yes' && report.outcome === 'complete') await comesToRest(phase);
  const heard = await isReachable(phase);
  const result = { told: heard && (await probeEdit(phase)), renewed: heard && (await renewed(phase)) };
  await nothingLeft(phase);
  return result;
}

/**
 * What lists show otherwise than reads by id do makes no versions for ever, of vendors that stand still: two runs in succession bring none. One whose
 * absences wait for a person has read all that another reads: the service may forget more deleted vendors meanwhile than the breaker allows.
 */
async function comesToRest(phase: QuietPhase): Promise<void> {
  const { plan, timeline, auditor, runs, broken } = phase;
  const isWhole = ({ outcome, error }: RunReport): boolean =>
    outcome === 'complete' || error?.code === 'breaker_tripped';
  const completed = (): number => runs.filter(isWhole).length;
  const atFirst = completed();
  let [version, since, seen] = [auditor.lastVersion(), atFirst, atFirst];
  const isAtRest = (): boolean => {
    const now = completed();
    if (now === seen) return false;
    seen = now;
    const newest = auditor.lastVersion();
    if (newest !== version) [version, since] = [newest, now];
    return now >= Math.min(since, atFirst + mostRunsUntilRest) + runsAtRest;
  };
  for (let words = 0; ; words += 1) {
    const before = runs.length;
    const lacksWord = (): boolean => words < mostApprovals && runs.slice(before).some((run) => isShort(plan, run));
    if (!(await timeline.until(() => isAtRest() || lacksWord(), 24 * longest))) return;
    if (!lacksWord()) break;
    await acceptCounted(phase);
  }
  if (since > atFirst + mostRunsUntilRest)
    broken('P1', 'vendors that stand still are stored otherwise again and again');
}

/**
 * The first run that began after another and says something. Where each request has an order of its own, and vendors that nobody may
 * read are counted, or only the rows of a page, the first walks of many unknown vendors may use up their passes, and a later run, which knows
 * them, is whole. So is the next one where the first says itself that it could not contradict all that was read before.
 */
async function wholeRun({ plan, timeline, auditor, runs }: QuietPhase, last: number): Promise<RunReport | undefined> {
  const others = mayNeedAnother(plan) ? 3 : 1;
  const claims = new Map<number, boolean>();
  const claimsAll = (run: number): boolean => {
    const known = claims.get(run) ?? auditor.claimsAll(run);
    claims.set(run, known);
    return known;
  };
  const telling = (): RunReport[] => {
    // Either happens for a reason of its own, so each has so many runs.
    let [unproven, unclaimed] = [0, 0];
    return runs.filter(({ run, error, outcome }) => {
      if (run.id <= last) return false;
      if (mayNeedAnother(plan) && error?.code === 'sweep_incomplete') return ++unproven > others;
      if (outcome === 'complete' && !claimsAll(run.id)) return ++unclaimed > others;
      return true;
    });
  };
  await timeline.until(() => telling().length > 0, others * longest);
  return telling()[0];
}

/** Whether a first walk may use up its passes. */
function mayNeedAnother(plan: Plan): boolean {
  const { order, total, unlistedIds } = plan.world;
  const countsOtherRows = total !== 'right' && total !== 'counts_hidden';
  return order === 'shuffled' && (unlistedIds + hiddenIn(plan) > 0 || countsOtherRows);
}

/** Whether `total` counts vendors that lists do not show. */
function hiddenIn({ world }: Plan): number {
  const hides = world.listDeleted !== 'shown' || world.listArchived === 'hidden';
  return world.total === 'counts_hidden' && hides ? 1 : 0;
}

/** Whether a list that is asked for by state counts vendors of another. */
function countsOthers(plan: Plan): boolean {
  return plan.world.total === 'counts_hidden' && honoursStateFilter(plan);
}

/** Whether a run showed fewer vendors than are counted, where the service counts others: that needs a person's word. */
function isShort(plan: Plan, { error }: { readonly error?: { readonly code: string } | null | undefined }): boolean {
  return error?.code === 'too_many_unreadable' && (hiddenIn(plan) > 0 || countsOthers(plan));
}

/** A person's word that so many may be counted and not shown. */
async function acceptCounted({ account, supervisor, trace }: QuietPhase): Promise<void> {
  trace.write('accept unreadable');
  await supervisor.daemon?.installation.mirror.accountRegister.acceptUnreadable(account, 1_000);
}

/** What services show where no size of a page is asked for, as after one was declined by a fault. */
const smallestPage = 15;

/** Whether the service shows nothing past its first page, and more vendors than that has rows. */
function isBlind({ plan, eventLog }: QuietPhase, rows = rowsOnPage(plan)): boolean {
  const isIgnored = plan.world.paging === 'ignored' || plan.world.paging === 'echoed';
  return isIgnored && eventLog.vendors.length + plan.world.unlistedIds > rows;
}

/** Whether the service counts more vendors than its first page has room for: nothing else tells that there are more. */
function countsMore({ plan, eventLog }: QuietPhase): boolean {
  const { total, listDeleted, listArchived, unlistedIds } = plan.world;
  const isListed = { 0: true, 1: listDeleted === 'shown', 2: listArchived === 'shown', vanished: false };
  const listed = eventLog.vendors.filter((id) => isListed[eventLog.of(id).at(-1)?.state ?? 'vanished']);
  const places = listed.length + Math.min(unlistedIds, plan.vendors);
  return places - (total === 'fewer' ? Math.ceil(places / 10) : 0) > rowsOnPage(plan);
}

/**
 * Where more are counted than shown, a list of one page looks like one whose page parameter is ignored, or it is ignored: a page past the
 * last is answered with the last or the first, or happens to show the same few in an order of its own. Nobody can tell them apart, and nothing is concluded.
 */
function looksBlind(plan: Plan): boolean {
  const { paging, pastEnd, order, unlistedIds } = plan.world;
  const repeats = ['last', 'first'].includes(pastEnd) || ['ignored', 'echoed'].includes(paging);
  return (repeats || order === 'shuffled') && (unlistedIds + hiddenIn(plan) > 0 || countsOthers(plan));
}

/**
 * A person looks at what the breaker holds back, or whether these vendors are of the account, and allows it: once more, where the run could not tell a short list from one whose page
 * parameter is ignored, or used up its passes, in its second sweep too, or in the list of a state, and says that it does not know all. @returns whether it said anything in the end.
 */
async function approve(phase: QuietPhase, isAccountAccepted: boolean): Promise<boolean> {
  const { account, plan, supervisor, follower, auditor, timeline, broken, trace } = phase;
  const { daemon } = supervisor;
  if (!daemon) return false;
  follower.allowed = true;
  for (let tries = 1; tries <= mostApprovals; tries += 1) {
    trace.write('approve');
    let summary: RunSummary | undefined;
    const { signal } = new AbortController();
    const word = { approved: 10_000, isAccountAccepted };
    void daemon.installation
      .pull(account, { kind: 'reconcile', trigger: 'command', signal, ...word })
      .then((ended) => (summary = ended));
    // It may wait for a whole run that is under way.
    await timeline.until(() => summary !== undefined, 2 * longest);
    const isWhole = summary !== undefined && auditor.undecided() === 0 && auditor.claimsAll(summary.run_id);
    if (summary?.outcome === 'complete' && mayNeedAnother(plan) && !isWhole) continue;
    if (summary?.outcome === 'complete') return true;
    if (summary?.error?.code === 'paging_ignored' && looksBlind(plan)) continue;
    if (summary?.error?.code === 'sweep_incomplete' && mayNeedAnother(plan)) continue;
    if (summary && isShort(plan, summary)) {
      await acceptCounted(phase);
      continue;
    }
    broken('P1', `an approved reconciliation ended: ${summary?.error?.message ?? summary?.outcome ?? 'never'}`);
    return true;
  }
  return false;
}

/** No delivery is given up for good: a reconciliation reads its vendor again; the second one, if one more came just before the first. */
async function nothingLeft({ timeline, follower, auditor, runs, broken }: QuietPhase): Promise<void> {
  const parked = new Set(auditor.parked());
  if (parked.size === 0) return;
  const last = follower.lastRun;
  const reconciled = (): number =>
    runs.filter(({ run, outcome }) => run.id > last && run.kind === 'reconcile' && outcome === 'complete').length;
  if (!(await timeline.until(() => reconciled() >= 2, longest))) return;
  for (const id of auditor.parked().filter((still) => parked.has(still)))
    broken('P1', `delivery ${id} was given up for good`);
}
