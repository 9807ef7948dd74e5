/** The result of applying one reading to the stored vendor. */
import type { Vendor, VisState } from '../../domain/vendor.ts';
import type { Irregularities } from './irregularities.ts';
import type { Presence, VendorTable } from '../tables/vendor-tables.ts';

/** The result of one reading. */
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
  /** It contradicts a version that is too young, and is not applied; the vendor is marked to be read again. */
  | ({ readonly kind: 'guarded' } & Difference);

/** How a reading differs from the stored vendor. */
export interface Difference {
  readonly before: Pick<VendorTable, 'vis_state' | 'presence' | 'updated_at'>;
  readonly after: Pick<VendorTable, 'vis_state' | 'presence' | 'updated_at'>;
  readonly changed: readonly string[];
  /** Changed fields that had no value before, because lists leave them out or they were excluded. */
  readonly filledIn?: readonly string[];
  readonly irregularities?: Irregularities | undefined;
}

/** An absence with a second proof. */
export type Absence = Extract<Presence, 'missing' | 'gone'>;

/** The verdict on a reading that equals the stored vendor. */
export function unchangedVerdict({
  held_since_ms,
  vis_state,
}: Pick<VendorTable, 'held_since_ms' | 'vis_state'>): Verdict {
  return { kind: 'unchanged', heldSince: held_since_ms, visState: vis_state };
}

/** The verdict on a reading that is not applied. */
export function unacceptedVerdict(acceptance: 'stale' | 'guarded', difference: Difference): Verdict {
  return acceptance === 'stale' ? { kind: 'stale' } : { kind: 'guarded', ...difference };
}

/** The verdict on a reading of a forgotten vendor. */
export const forgottenVerdict: Verdict = { kind: 'forgotten' };
