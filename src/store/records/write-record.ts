/** Writes to the service with an unknown outcome. */
import type { Vendor } from '../../domain/vendor.ts';
import type { Presence } from '../tables/vendor-tables.ts';

export interface NewEdit {
  readonly vendorid: number;
  /** Names of the fields that are set. */
  readonly fields: readonly string[];
  /** The user's name on this machine, where known. */
  readonly by: string | null;
  /** Milliseconds after which the vendor is read, if the outcome is not known by then. */
  readonly delay: number;
}

/** An edit with an unknown outcome. */
export interface OpenEdit {
  readonly id: number;
  readonly fields: readonly string[];
  /** Timestamp of ours. */
  readonly sentAt: string;
  readonly sentBy: string | null;
  /** Whether the vendor was stored then, and has not changed since. */
  readonly isUntouched: boolean;
  /** Names of the fields that changed since. */
  readonly changed: readonly string[];
}

export interface StoredVendor {
  readonly vendor: Vendor;
  readonly presence: Presence;
}

/** A creation with an unknown outcome. */
export interface OpenCreation {
  /** Timestamp of ours. */
  readonly sentAt: string;
  /** The user who sent it, where known. */
  readonly sentBy: string | null;
  /** Ids of the stored vendors with that name before the creation. */
  readonly known: readonly number[];
}
