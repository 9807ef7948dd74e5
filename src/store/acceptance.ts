/** Decides, without SQL, whether a reading that differs from the stored vendor is applied, and what comes of it. */
import type { Source } from '../domain/reading.ts';
import type { Vendor, VisState } from '../domain/vendor.ts';
import type { VendorTable } from './sql/schema.ts';

/**
 * `guarded`: not applied now, because the stored version is too young to be contradicted; the service may have answered from an old copy.
 */
export type Acceptance = 'stale' | 'guarded' | 'accepted';

export interface Contradiction {
  readonly difference: Difference;
  /** A reading whose request began later was applied, or confirmed the stored vendor. */
  readonly isOvertaken: boolean;
  /** Mirror time when the request of the reading began, and since when the stored version is held. */
  readonly begun: number;
  readonly heldSince: number;
  readonly source: Source;
  /** How long, in milliseconds, the service may answer from an old copy. */
  readonly lag: number;
}

export function acceptanceOf({ difference, isOvertaken, begun, heldSince, source, lag }: Contradiction): Acceptance {
  if (isOvertaken) return 'stale';
  // The answer to our own write is from no old copy. But of two requests under way at once, the order at the service is unknown.
  const young = source === 'write' ? 0 : lag;
  // What no answer showed before contradicts none, however young.
  const { changed, filledIn = [] } = difference;
  if (changed.length > 0 && changed.every((field) => filledIn.includes(field))) return 'accepted';
  return begun >= heldSince + young ? 'accepted' : 'guarded';
}

export type Verdict =
  | { readonly kind: 'created'; readonly vendor: Vendor }
  | ({ readonly kind: 'updated' } & Difference)
  | {
      readonly kind: 'unchanged';
      /** Mirror time since which it is stored like this, or since which the youngest of the vendors around it is. */
      readonly heldSince: number;
      readonly visState: VisState | null;
    }
  /** The vendor was forgotten on request: nothing is applied. */
  | { readonly kind: 'forgotten' }
  /** The record is unusable: nothing is applied. */
  | { readonly kind: 'rejected'; readonly reason: string }
  /** Older than the stored version. */
  | { readonly kind: 'stale' }
  /**
   * It contradicts a version that is too young, or comes from a list that shows an earlier version, `copyAge` milliseconds after that ended.
   * It is not applied; the vendor is marked to be read again. `isOther`: a read by id shows another vendor under the number, which needs a
   * proof that it is of this account; nothing is marked.
   */
  | ({ readonly kind: 'guarded'; readonly copyAge?: number | undefined; readonly isOther?: boolean } & Difference);

export interface Difference {
  readonly before: Pick<VendorTable, 'vis_state' | 'presence' | 'updated_at' | 'held_since_ms'>;
  readonly after: Pick<VendorTable, 'vis_state' | 'presence' | 'updated_at'>;
  readonly changed: readonly string[];
  /** Changed fields that had no value before, because lists leave them out or they were excluded. */
  readonly filledIn?: readonly string[];
  /** Lists of the record with duplicates; the first of each counts. */
  readonly repeated?: readonly string[] | undefined;
}

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

/** Changed fields that had a value before. */
export function changedValues({ changed, filledIn = [] }: Pick<Difference, 'changed' | 'filledIn'>): readonly string[] {
  return filledIn.length === 0 ? changed : changed.filter((field) => !filledIn.includes(field));
}

/** Whether the vendor was edited in between, or nobody can say. */
export function isEdited({ before, after }: Pick<Difference, 'before' | 'after'>): boolean {
  return before.updated_at === null || before.updated_at !== after.updated_at;
}

/** Fields that a reading shows otherwise than they are stored, though nothing was edited. */
export function changedUnedited(difference: Difference): readonly string[] {
  return isEdited(difference) ? [] : changedValues(difference).filter((field) => field !== 'presence');
}

/** Whether the vendor is stored as the reading showed it. */
export function isStored({ kind }: Verdict): boolean {
  return kind === 'created' || kind === 'updated' || kind === 'unchanged';
}

/** The verdict on a reading that equals the stored vendor. */
export function unchangedVerdict({
  held_since_ms,
  vis_state,
}: Pick<VendorTable, 'held_since_ms' | 'vis_state'>): Verdict {
  return { kind: 'unchanged', heldSince: held_since_ms, visState: vis_state };
}

export function unacceptedVerdict(acceptance: 'stale' | 'guarded', difference: Difference): Verdict {
  return acceptance === 'stale' ? { kind: 'stale' } : { kind: 'guarded', ...difference };
}

export function rejectedVerdict(vendorid: number, error: Error): Verdict {
  return { kind: 'rejected', reason: `Vendor ${vendorid}: ${error.message}` };
}

export const forgottenVerdict: Verdict = { kind: 'forgotten' };
