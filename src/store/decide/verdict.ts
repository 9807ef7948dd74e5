/** What a reading means for what is stored of a vendor. */
import type { Vendor, VisState } from '../../domain/vendor.ts';
import type { Oddities } from './oddities.ts';
import type { Presence, VendorTable } from '../tables/vendor-tables.ts';

/** What became of one reading. */
export type Verdict =
  | { readonly kind: 'created'; readonly vendor: Vendor }
  | ({ readonly kind: 'updated' } & Difference)
  | {
      readonly kind: 'unchanged';
      /** Mirror time since which we hold it so. */
      readonly heldSince: number;
      readonly visState: VisState | null;
    }
  /** A person had the mirror forget the vendor: nothing of it is applied. */
  | { readonly kind: 'forgotten' }
  /** The record cannot be used, for a reason of its own; nothing of it is applied. */
  | { readonly kind: 'rejected'; readonly reason: string }
  /** Older than what we hold. */
  | { readonly kind: 'stale' }
  /** It contradicts something too young and is not applied; the vendor is marked to be read again. */
  | ({ readonly kind: 'guarded' } & Difference);

/** How a reading differs from what we hold. */
export interface Difference {
  readonly before: Pick<VendorTable, 'vis_state' | 'presence' | 'updated_at'>;
  readonly after: Pick<VendorTable, 'vis_state' | 'presence' | 'updated_at'>;
  readonly changed: readonly string[];
  /** Those of them that no reading had told of before, because lists leave them out, or because they were excluded. */
  readonly filledIn?: readonly string[];
  readonly oddities?: Oddities | undefined;
}

/** An absence that has its second proof. */
export type Absence = Extract<Presence, 'missing' | 'gone'>;

/** What a reading comes to that shows a vendor as we hold it. */
export function unchangedVerdict({
  held_since_ms,
  vis_state,
}: Pick<VendorTable, 'held_since_ms' | 'vis_state'>): Verdict {
  return { kind: 'unchanged', heldSince: held_since_ms, visState: vis_state };
}

/** What a reading comes to that is not believed. */
export function unacceptedVerdict(acceptance: 'stale' | 'guarded', difference: Difference): Verdict {
  return acceptance === 'stale' ? { kind: 'stale' } : { kind: 'guarded', ...difference };
}

/** What a reading comes to of a vendor that is to have no row. */
export const forgottenVerdict: Verdict = { kind: 'forgotten' };
