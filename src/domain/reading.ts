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

/** Neighbouring records of a page, which are known again by the digest of their bytes. */
export interface Stretch {
  /** Bytes from the first record to the end of the last. */
  readonly length: number;
  readonly digest: string;
  /** Whose records they are, in their order. */
  readonly vendorids: readonly number[];
}

/** A page of the default list, or of the list of one state. */
export interface PagePlace {
  readonly visState: 1 | 2 | undefined;
  readonly page: number;
}

/** What a page showed when its vendors were last stored as it showed them; no stretches where nothing is known. */
export interface KnownPage {
  readonly place: PagePlace;
  /** The number of that reading. */
  readonly readSeq: number;
  readonly stretches: readonly Stretch[];
}

/** What a page shows, by digests. */
export interface PageDigests {
  readonly place: PagePlace;
  /** All of its records. */
  readonly stretches: readonly Stretch[];
  /** Vendors whose records are the same bytes as in the reading of that number, after which they were stored so. */
  readonly known: { readonly readSeq: number; readonly vendorids: readonly number[] };
  /** Whether these are the known stretches, all of them in their order, and nothing else. */
  readonly isKnown: boolean;
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
  /** Undefined where nobody wants them, or the page is not to be known again. */
  readonly digests?: PageDigests | undefined;
}
