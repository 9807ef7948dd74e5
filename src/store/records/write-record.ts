/** Writes to the service whose outcome is open. */
import type { Vendor } from '../../domain/vendor.ts';
import type { Presence } from '../tables/vendor-tables.ts';

export interface NewEdit {
  readonly vendorid: number;
  /** Names of the fields that are set. */
  readonly fields: readonly string[];
  /** A person's name on the machine, where it is known. */
  readonly by: string | null;
  /** Milliseconds after which the vendor is read, if nobody knows by then what became of the edit. */
  readonly delay: number;
}

/** An edit that was sent, or was about to be, and of which nobody knows whether it was carried out. */
export interface OpenEdit {
  readonly id: number;
  readonly fields: readonly string[];
  /** When, in our time. */
  readonly sentAt: string;
  readonly sentBy: string | null;
  /** Whether the mirror held the vendor then, and has seen no change of it since. */
  readonly isUntouched: boolean;
  /** Names of the fields that the mirror has seen to change since. */
  readonly changed: readonly string[];
}

export interface StoredVendor {
  readonly vendor: Vendor;
  readonly presence: Presence;
}

/** A creation that was sent, or was about to be, and of which nobody knows whether it was carried out. */
export interface OpenCreation {
  /** When, in our time. */
  readonly sentAt: string;
  /** By whom, where that is known. */
  readonly sentBy: string | null;
  /** Numbers of the vendors of that name that the mirror held before. */
  readonly known: readonly number[];
}
