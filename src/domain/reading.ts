/** A reading: one observation of vendors, numbered before its request left. */
import type { Vendor } from './vendor.ts';

/** The number and time that a request gets before it is sent. */
export interface ReadStamp {
  /** From the one counter of the mirror; orders readings. */
  readonly readSeq: number;
  /** Mirror time at which the request began, in milliseconds. Mirror time never runs backwards. */
  readonly begun: number;
}

export const sources = ['pull', 'delivery', 'reconcile', 'write'] as const;
export type Source = (typeof sources)[number];

/** One vendor of an answer. It is parsed on demand, because most rows of a sweep equal the stored text byte for byte. */
export interface VendorRow {
  readonly vendorid: number;
  /** The JSON as received, without excluded fields. */
  readonly raw: string;
  /** The same as UTF-8 bytes, where they are available at no cost. */
  readonly bytes?: Uint8Array | undefined;
  /** Names of fields that are kept out of the mirror; they are already removed here. */
  readonly excluded?: ReadonlySet<string> | undefined;
  /** @throws MirrorError `answer_unreadable` if the record is not a vendor. */
  vendor(): Vendor;
}

/** One vendor, read by id or returned by a write. */
export interface VendorReading {
  readonly stamp: ReadStamp;
  readonly row: VendorRow;
}

export interface VendorPage {
  readonly stamp: ReadStamp;
  readonly page: number;
  readonly pages: number;
  readonly perPage: number;
  readonly total: number;
  /** The time of the service's Date header, milliseconds since 1970; undefined where there is none. */
  readonly servedAt: number | undefined;
  readonly rows: readonly VendorRow[];
  /** The records of the page that have no usable id. */
  readonly rejected?: readonly RejectedRecord[];
}

export interface RejectedRecord {
  readonly reason: string;
  /** A digest of it, by which it is known on other pages. */
  readonly digest: string;
}

/** The rate limit that all processes of a mirror share, also across restarts: each request reserves a place before it is sent. */

/** What a rate is counted of: all requests of a connection, its POSTs, or its requests for callbacks. */
export type RateWindow = 'all' | 'post' | 'callbacks';

/** At most this many requests within any `per` milliseconds. */
export interface RateBound {
  readonly window: RateWindow;
  readonly requests: number;
  readonly per: number;
}

/** The limits that a request counts against, and how much of each may be used. */
export interface RateDemand {
  readonly connection: string;
  readonly bounds: readonly RateBound[];
  /** The longest time that the request can take, in milliseconds. */
  readonly longest: number;
  /** Whether it may use the whole rate, and has its turn among those of other processes; others wait until none of these waits. */
  readonly isPrompt?: boolean | undefined;
}

/** A reserved place. It counts until a whole period after the service may last have seen the request. */
export interface Reservation {
  readonly stamp: ReadStamp;
  /** The request has ended. `late` is how many more milliseconds it may still take to reach the service. */
  end(late: number): void;
}

/** A reservation, or the milliseconds after which to try again, and the window that is full. */
export type ReservationOrWait = Reservation | { readonly wait: number; readonly window: RateWindow };

export type ReserveRequest = (demand: RateDemand) => Promise<ReservationOrWait>;

/** What to do where an account shows other vendors than those that are known of it. */
export const acceptAccount =
  'Check that the token and the id of the account are the right ones. If they are, and its vendors were replaced or all rewritten, accept it: `vendor-mirror reconcile --accept-account`.';
