/** Whether a change is announced by webhook, and found if it was not announced (P1). */
import type { CallbackRecord } from '../../../src/sandbox/core/memory.ts';
import type { QuietPhase } from './quiet-phase.ts';
import { interval } from '../machine/process.ts';
import { publicUrl } from '../plan/accounts.ts';

const minute = 60_000;
/** The guard, the second look, and the requests in between. */
export const settling = 45_000;
/** A code that never came is asked for again after ten minutes, and a look follows each interval. */
const mended = 40 * minute;
/** A delivery's own time, the guard, and a reading; where copies lag, a second look comes on top. */
const prompt = 20_000;
/** What a run leaves to be done is done. */
const rest = 10_000;
/** Where sixty requests a minute are allowed, a run may have used them. */
const turn = 65_000;

/** The event of an edit: the noun, or its verb if the service accepts no noun. */
const ofEdits: ReadonlySet<string> = new Set(['bill_vendor', 'bill_vendor.update']);

/** Whether the service tells us of edits, now, and signs with a code that we believe in. */
export function isSubscribed(phase: QuietPhase): boolean {
  const telling = ourCallbacks(phase).filter(
    ({ event, verified, disabled }) => ofEdits.has(event) && verified && !disabled,
  );
  return telling.length > 0 && telling.some(({ verifier }) => phase.auditor.provenCodes().includes(verifier));
}

/** How long it takes at most until a vendor that is to be read was read, in milliseconds. */
export function reading({ plan }: QuietPhase): number {
  const lags = plan.world.listLag + plan.world.readLag > 0;
  return prompt + (lags ? settling : 0) + (plan.vendorsRate < 600 ? turn : 0);
}

function ourCallbacks({ account, sandbox }: QuietPhase): CallbackRecord[] {
  return sandbox
    .callbacks(account)
    .all()
    .filter(({ uri }) => uri.startsWith(publicUrl));
}

/** Whether a delivery would reach us; unknown for a callback that is disabled and does not show it. */
export async function isReachable(phase: QuietPhase): Promise<boolean> {
  const { plan, timeline, auditor, broken, trace } = phase;
  if (await timeline.until(() => isSubscribed(phase), mended)) return true;
  const ours = ourCallbacks(phase);
  trace.write('no callback', JSON.stringify(ours.map(({ verified, disabled }) => ({ verified, disabled }))));
  const hidden = plan.world.disabled === 'silent' && ours.some(({ disabled }) => disabled);
  if (!hidden && !auditor.registeredEnough()) broken('P1', 'the callback is not mended');
  return false;
}

/** An edit in the service that a delivery announces. @returns whether there was one. */
export async function probeEdit(phase: QuietPhase): Promise<boolean> {
  const { account, plan, timeline, supervisor, sandbox, auditor, follower, runs, broken, trace, eventLog } = phase;
  if (plan.world.objectId !== 'resource') return false;
  const vendorService = sandbox.vendors(account);
  /** The first that is alive and waits for nothing: one that could not be read, again and again, rests before it is read once more. */
  const free = (): number | undefined => {
    const marked = new Set(auditor.marked());
    const alive = vendorService.all().filter((wire) => Number(wire['vis_state']) === 0);
    return alive.map(({ vendorid }) => Number(vendorid)).find((vendorid) => !marked.has(vendorid));
  };
  if (free() === undefined) return false;
  // Between two reconciliations, so that none of them brings it.
  const last = runs.length;
  const isNew = (): boolean => runs.length > last && runs.at(-1)!.trigger === 'schedule';
  const isFar = (): boolean => (supervisor.daemon?.untilNextRun() ?? 0) > rest + reading(phase) + minute / 3;
  await timeline.until(() => isNew() || (plan.world.readOne === 'yes' && isFar()), 2 * interval * minute);
  await timeline.pass(rest);
  const vendorid = free();
  if (!isSubscribed(phase) || vendorid === undefined) return false;
  vendorService.edit(vendorid, { phone: '+1 555 0100' });
  trace.write('probe', vendorid);
  const due = eventLog.at(vendorid, timeline.now);
  const before = runs.length;
  await timeline.pass(reading(phase));
  // Where no vendor is read by number, a whole sweep answers, and a second one where the first may have been shown an old copy. Much later,
  // the next reconciliation would bring it.
  if (plan.world.readOne !== 'yes') {
    const answers = (): number => runs.slice(before).filter(({ trigger }) => trigger === 'queue').length;
    const latest = timeline.now + 130_000;
    // Where sixty requests a minute are allowed, a list in an order of its own for each request takes many of them.
    await timeline.until(() => answers() >= 1, (plan.vendorsRate < 600 ? 10 : 1) * 3 * minute);
    if (plan.world.listLag > 0) await timeline.until(() => answers() >= 2, Math.max(0, latest - timeline.now));
  }
  auditor.look();
  if ((follower.stored.get(vendorid)?.entry ?? -1) < due)
    broken('P1', 'a change that was told by webhook did not arrive');
  return true;
}
