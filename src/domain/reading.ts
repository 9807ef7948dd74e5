/** A reading: one observation of vendors, numbered before its request left. */
import type { Vendor } from './vendor.ts';

/** What a request takes along before it leaves. */
export interface ReadStamp {
  /** From the one counter of the mirror; orders readings. */
  readonly readSeq: number;
  /** Mirror time in milliseconds at which the request began: never runs backwards, whatever the clocks do. */
  readonly begun: number;
}

/** What a reading came from. */
export const sources = ['pull', 'delivery', 'reconcile', 'write'] as const;
export type Source = (typeof sources)[number];

/** One vendor of an answer, parsed only when asked: most rows of a sweep are equal to the byte to what we hold. */
export interface VendorRow {
  readonly vendorid: number;
  /** The JSON as received, without what is excluded. */
  readonly raw: string;
  /** The same in UTF-8, where that costs nothing. */
  readonly bytes?: Uint8Array | undefined;
  /** Fields that are kept out of the mirror: the record stands here without them. */
  readonly excluded?: ReadonlySet<string> | undefined;
  /** @throws MirrorError `answer_unreadable` if the record is no vendor. */
  vendor(): Vendor;
}

/** One vendor, read by its number or answered to a write. */
export interface VendorReading {
  readonly stamp: ReadStamp;
  readonly row: VendorRow;
}

/** One page of the vendor list. */
export interface VendorPage {
  readonly stamp: ReadStamp;
  readonly page: number;
  readonly pages: number;
  readonly perPage: number;
  readonly total: number;
  /** The service's clock when it answered (its Date header), milliseconds since 1970; undefined where it does not say. */
  readonly servedAt: number | undefined;
  readonly rows: readonly VendorRow[];
  /** Why records of the page cannot be used, one reason each: they bear no usable id. */
  readonly rejected?: readonly string[];
}
