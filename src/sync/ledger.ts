/** Who should have told us: whether a change that a sweep met had been announced, may still be, or was missed. */
import { parseInstant } from '../clock.ts';
import type { Finding } from '../store/findings.ts';
import type { Accountant, Evidence } from '../store/reading-deeds.ts';
import type { Verdict } from '../store/readings.ts';
import type { FindingKind } from '../store/tables.ts';
import { balanceFields } from '../vendor.ts';

/** A delivery may take several minutes (reference 8); in milliseconds. */
export const inFlightFor = 5 * 60_000;

/** The clocks of the service and of this machine differ by less than this, in milliseconds. */
const clockSkew = 2_000;

const balances: ReadonlySet<string> = new Set(balanceFields);

/** Accounts for what a sweep meets at the time `now`, milliseconds since 1970. */
export function accountant(now: () => number): Accountant {
  return (vendorid, verdict, evidence) => {
    if (verdict.kind !== 'created' && verdict.kind !== 'updated') return undefined;
    const changed = verdict.kind === 'created' ? [] : verdict.changed;
    const kind = kindOf(verdict);
    const finding = (as: FindingKind, fields: Finding['fields']): Finding => ({ kind: as, vendorid, fields });
    if (kind === 'balance_only' || kind === 'vanished') return finding(kind, changed);
    const changedAt = changeTime(verdict);
    if (wasAnnounced(evidence, changedAt)) return undefined;
    return changedAt !== undefined && changedAt > now() - inFlightFor
      ? finding('in_flight', { kind, changed })
      : finding(kind, changed);
  };
}

type Change = Extract<Verdict, { kind: 'created' | 'updated' }>;

function kindOf(verdict: Change): FindingKind {
  if (verdict.kind === 'created') return 'missed_create';
  const { before, after, changed } = verdict;
  if (after.presence !== 'present') return 'vanished';
  // A bill moves a balance, and no vendor event tells of it.
  if (changed.every((field) => balances.has(field))) return 'balance_only';
  if (after.vis_state === 1 && before.vis_state !== 1) return 'missed_delete';
  if (after.vis_state === 0 && before.vis_state === 1) return 'missed_restore';
  return 'missed_update';
}

function changeTime(verdict: Change): number | undefined {
  const text = verdict.kind === 'created' ? verdict.vendor.updated_at : verdict.after.updated_at;
  return text == null ? undefined : parseInstant(text);
}

function wasAnnounced({ marked, lastDelivery }: Evidence, changedAt: number | undefined): boolean {
  if (marked) return true;
  const told = lastDelivery === null ? undefined : parseInstant(lastDelivery);
  return told !== undefined && changedAt !== undefined && told >= changedAt - clockSkew;
}
