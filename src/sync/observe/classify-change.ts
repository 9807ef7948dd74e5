/** Who should have told us: whether a change that a sweep met had been announced, may still be, or was missed. */
import { parseInstant } from '../../domain/clock.ts';
import type { Difference, Verdict } from '../../store/decide/verdict.ts';
import type { FindingKind } from '../../store/tables/mirror-tables.ts';
import { balanceFields } from '../../domain/vendor.ts';
import type { Finding } from '../../store/records/finding-record.ts';
import type { ChangeClassifier, Evidence } from '../../store/records/reading-record.ts';

/** A delivery may take several minutes; in milliseconds. */
export const inFlightTime = 5 * 60_000;

/** The service tells the second in which a vendor changed, in milliseconds. */
const grain = 1_000;

const balances: ReadonlySet<string> = new Set(balanceFields);

/** Accounts for what a sweep meets at the time `now`, milliseconds since 1970. */
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

/** What moves whenever somebody edits a vendor, or may move alone. */
const edited: ReadonlySet<string> = new Set(['updated_at', 'tax_defaults', 'presence']);

/**
 * Whether a reading shows something that an event may have told of. A field that lists leave out, and that a reading by number fills in, is
 * no such thing; nor is a balance.
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
  // A bill moves a balance, and no vendor event tells of it.
  if (known.every((field) => balances.has(field))) return 'balance_only';
  if (!isNews(verdict)) return undefined;
  if (after.vis_state === 1 && before.vis_state !== 1) return 'missed_delete';
  if (after.vis_state === 0 && before.vis_state === 1) return 'missed_restore';
  return 'missed_update';
}

/** Fields that are otherwise than a reading had shown them. */
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
