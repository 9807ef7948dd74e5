/**
 * The callback is proven anew while a run is under way. What changed when nobody was told, the run has passed already: it is found by one that
 * begins after the proof, because requests never join a sweep that has begun. Each of the two may have to walk the list twice, a lag apart.
 */
import type { QuietPhase } from './quiet-phase.ts';
import { isSubscribed, reading, settling } from './edit-probe.ts';
import { interval } from '../machine/process.ts';
import { rowsOnPage } from '../plan/plan.ts';

const minute = 60_000;
/** The service answers a request that is held back before the program gives it up. */
const renewalWait = 20_000;

/** @returns whether there was such a moment. */
export async function renewed(phase: QuietPhase): Promise<boolean> {
  const { account, plan, timeline, network, eventLog } = phase;
  // One page shows everybody, as it is when it is asked for.
  const onePage = eventLog.vendors.length + plan.world.unlistedIds <= rowsOnPage(plan);
  if (!onePage || plan.world.listLag > 0) return false;
  const { lists } = network.views.get(account)!;
  const before = lists.length;
  const release = network.hold(account);
  try {
    if (!(await timeline.until(() => lists.length > before, 2 * interval * minute))) return false;
    return await overtake(phase, release);
  } finally {
    release();
  }
}

async function overtake(phase: QuietPhase, release: () => void): Promise<boolean> {
  const { account, timeline, supervisor, sandbox, eventLog, follower, auditor, trace, broken } = phase;
  const vendorService = sandbox.vendors(account);
  const alive = vendorService.all().find((wire) => Number(wire['vis_state']) === 0);
  if (!supervisor.daemon || !alive) return false;
  void supervisor.daemon.supervisors.get(account)?.subscriptions.resendIfSilent();
  if (!(await timeline.until(() => !isSubscribed(phase), renewalWait / 4))) return false;
  const vendorid = Number(alive['vendorid']);
  vendorService.edit(vendorid, { phone: '+1 renewal' });
  trace.write('renewal', vendorid);
  const due = eventLog.at(vendorid, timeline.now);
  if (!(await timeline.until(() => isSubscribed(phase), renewalWait / 2))) return false;
  await timeline.pass(1_000);
  release();
  await timeline.pass(reading(phase) + 2 * settling);
  auditor.look();
  if ((follower.stored.get(vendorid)?.entry ?? -1) < due)
    broken('P1', 'what changed while the callback was proven anew was not looked for');
  return true;
}
