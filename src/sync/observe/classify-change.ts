/** Classifies a change that a sweep met: announced by a delivery, possibly still in flight, or missed. */
import { parseInstant } from '../../domain/clock.ts';
import type { Difference, Verdict } from '../../store/decide/verdict.ts';
import type { FindingKind } from '../../store/tables/mirror-tables.ts';
import { balanceFields } from '../../domain/vendor.ts';
import type { Finding } from '../../store/records/finding-record.ts';
import type { ChangeClassifier, Evidence } from '../../store/records/reading-record.ts';

/** How long a delivery may be under way, in milliseconds. */
export const inFlightTime = 5 * 60_000;

/** `updated_at` has a resolution of one second, in milliseconds. */
const grain = 1_000;

const balances: ReadonlySet<string> = new Set(balanceFields);

/** A classifier for the changes of a sweep. @param now wall time, milliseconds since 1970 */
export function changeClassifier(now: () => number): ChangeClassifier {
  return (vendorid, verdict, evidence) => {
    if (verdict.kind !== 'created' && verdict.kind !== 'updated') return undefined;
    const changed = verdict.kind === 'created' ? [] : verdict.changed;
    const kind = kindOf(verdict);
    if (kind === undefined) return undefined;
    const finding = (as: FindingKind, fields: Finding['fields']): Finding => ({ kind: as, vendorid, fields });
    if (kind === 'balance_only' || kind === 'vanished') return finding(kind, changed);
    const changedAt = changeTime(verdict);
    if (wasAnnounced(evidence, changedAt)) return undefined;
    return changedAt !== undefined && changedAt > now() - inFlightTime
      ? finding('in_flight', { kind, changed })
      : finding(kind, changed);
  };
}

type Change = Extract<Verdict, { kind: 'created' | 'updated' }>;

/** Fields that change with every edit, or may change alone. */
const edited: ReadonlySet<string> = new Set(['updated_at', 'tax_defaults', 'presence']);

/**
 * Whether a reading shows a change that an event may have announced: not a balance, and not a field that lists leave out and a read by id
 * fills in.
 */
export function isNews(verdict: Verdict): boolean {
  if (verdict.kind !== 'updated') return verdict.kind === 'created';
  return verdict.after.updated_at === null || changedValues(verdict).some((field) => edited.has(field));
}

function kindOf(verdict: Change): FindingKind | undefined {
  if (verdict.kind === 'created') return 'missed_create';
  const { before, after } = verdict;
  if (after.presence !== 'present') return 'vanished';
  const known = changedValues(verdict);
  if (known.length === 0) return undefined;
  // A bill changes a balance without a vendor event.
  if (known.every((field) => balances.has(field))) return 'balance_only';
  if (!isNews(verdict)) return undefined;
  if (after.vis_state === 1 && before.vis_state !== 1) return 'missed_delete';
  if (after.vis_state === 0 && before.vis_state === 1) return 'missed_restore';
  return 'missed_update';
}

/** Changed fields that had a value before. */
function changedValues({ changed, filledIn = [] }: Pick<Difference, 'changed' | 'filledIn'>): readonly string[] {
  return filledIn.length === 0 ? changed : changed.filter((field) => !filledIn.includes(field));
}

function changeTime(verdict: Change): number | undefined {
  const text = verdict.kind === 'created' ? verdict.vendor.updated_at : verdict.after.updated_at;
  return text == null ? undefined : parseInstant(text);
}

function wasAnnounced({ marked, unanswered }: Evidence, changedAt: number | undefined): boolean {
  if (marked) return true;
  const announcedAt = unanswered === null ? undefined : parseInstant(unanswered);
  return announcedAt !== undefined && changedAt !== undefined && announcedAt >= changedAt + grain;
}
