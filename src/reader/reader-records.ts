/** Arguments, results and errors of a reader. Names and meanings are those of the file: migrations/README.md. */
import { MirrorError, type ErrorCode } from '../domain/errors.ts';

export type VendorState = 'active' | 'deleted' | 'archived';
export type Presence = 'present' | 'suspect' | 'missing' | 'gone';
/** How something was learned. */
export type Source = 'pull' | 'delivery' | 'reconcile' | 'write';

/** An amount exactly as the service wrote it. */
export interface Amount {
  readonly amount: string;
  readonly code: string;
}

export interface VendorFilter {
  readonly account?: string | undefined;
  /** Part of a name, contact, e-mail address, account number or city, whatever its case and accents; or the whole id. */
  readonly search?: string | undefined;
  /** Default: active vendors that are not absent, unless `presence` is given. */
  readonly state?: VendorState | 'all' | undefined;
  readonly presence?: Presence | undefined;
  /** The largest page, from 1 to 1,000; default 200. */
  readonly limit?: number | undefined;
  /** The `next` of the page before. */
  readonly after?: string | undefined;
}

export interface ListedVendor {
  readonly account_id: string;
  readonly vendorid: number;
  readonly vendor_name: string | null;
  /** 0 active, 1 deleted, 2 archived. */
  readonly vis_state: 0 | 1 | 2 | null;
  readonly presence: Presence;
  readonly is_1099: boolean | null;
  readonly primary_contact_email: string | null;
  readonly country: string | null;
  readonly currency_code: string | null;
  /** As the service wrote it. */
  readonly updated_at: string | null;
  /** When the content last changed here, UTC. */
  readonly changed_at: string;
  readonly outstanding: readonly Amount[];
  readonly overdue: readonly Amount[];
}

/** By account and number. */
export interface VendorPage {
  readonly vendors: readonly ListedVendor[];
  /** For the `after` of the next page; null where there is none. */
  readonly next: string | null;
  /** How many there are on all pages; null for a search in which more than 50,000 vendors would have to be looked at. */
  readonly total: number | null;
}

export interface TaxDefault {
  readonly taxid: number;
  readonly system_taxid: number | null;
  readonly enabled: boolean | null;
  readonly name: string | null;
  readonly amount: string | null;
  readonly tax_authorityid: string | null;
  readonly created_at: string | null;
  readonly updated_at: string | null;
}

/** A vendor's fields; fields that the service added since are beside them under their own names. */
export interface VendorFields {
  readonly vendorid: number;
  readonly vendor_name: string | null;
  readonly account_number: string | null;
  readonly primary_contact_first_name: string | null;
  readonly primary_contact_last_name: string | null;
  readonly primary_contact_email: string | null;
  readonly primary_contact: string | null;
  readonly phone: string | null;
  readonly street: string | null;
  readonly street2: string | null;
  readonly city: string | null;
  readonly province: string | null;
  readonly postal_code: string | null;
  readonly country: string | null;
  readonly website: string | null;
  readonly currency_code: string | null;
  readonly language: string | null;
  readonly is_1099: boolean | null;
  readonly note: string | null;
  readonly vis_state: 0 | 1 | 2 | null;
  readonly tax_defaults: readonly TaxDefault[];
  readonly outstanding_balance: readonly Amount[];
  readonly overdue_balance: readonly Amount[];
  readonly created_at: string | null;
  readonly updated_at: string | null;
  readonly [unknownField: string]: unknown;
}

/** A field's value before and after. */
export interface ChangedValue {
  readonly old: string | null;
  readonly new: string | null;
}

export interface VendorChange {
  readonly seq: number;
  /** Goes on after this change. */
  readonly cursor: string;
  readonly account_id: string;
  readonly vendorid: number;
  /** When it was learned, UTC. */
  readonly at: string;
  readonly kind: 'created' | 'updated' | 'deleted' | 'archived' | 'restored' | 'missing' | 'gone' | 'returned';
  readonly changed_fields: readonly string[];
  /** By the name of the field; none for a vendor that is new. */
  readonly values: Readonly<Record<string, ChangedValue>>;
  readonly vis_state: 0 | 1 | 2 | null;
  readonly presence: Presence;
  readonly source: Source;
}

export interface TimelineOptions {
  /** The most changes, from 1 to 1,000; default 50. */
  readonly limit?: number | undefined;
  /** The `older` of the answer before. */
  readonly before?: number | undefined;
}

export interface Timeline {
  /** The latest first. */
  readonly timeline: readonly VendorChange[];
  /** For `before`; null where nothing is older. */
  readonly older: number | null;
}

export interface VendorWithTimeline extends Timeline {
  readonly account_id: string;
  readonly presence: Presence;
  readonly vis_state_source: 'reported' | 'inferred';
  readonly source: Source;
  readonly first_seen_at: string;
  readonly changed_at: string;
  /** The moment up to which the mirror holds everything of the account, UTC; null if it never was whole. */
  readonly safe_as_of: string | null;
  readonly record: VendorFields;
}

export interface PayableFilter {
  readonly account?: string | undefined;
  /** Default: all. */
  readonly state?: VendorState | 'unknown' | undefined;
  readonly currency?: string | undefined;
}

/** A row of the view `owed`: what is owed to all vendors of one state in one currency. */
export interface OwedSum {
  readonly account_id: string;
  /** Null in the row of vendors whose balances cannot be read at all; `unreadable` says how many. */
  readonly currency: string | null;
  readonly state: VendorState | 'unknown';
  /** How many vendors have an outstanding amount other than zero. */
  readonly vendors: number;
  readonly outstanding: number | null;
  readonly overdue: number | null;
  /** Exact, in the currency's minor unit; null if an amount has more decimal places than the currency, or the sum does not fit 64 bits. */
  readonly outstanding_minor: number | bigint | null;
  readonly overdue_minor: number | bigint | null;
  readonly minor_digits: number | null;
  /** Amounts that are not decimal numbers, and are left out. */
  readonly unreadable: number;
}

/** A row of the view `payables`: what is owed to a present vendor in one currency. */
export interface Payable {
  readonly account_id: string;
  readonly vendorid: number;
  readonly vendor_name: string | null;
  readonly state: VendorState | 'unknown';
  readonly currency: string;
  readonly outstanding: number | null;
  readonly overdue: number | null;
  /** Exact, in the currency's minor unit: cents of USD. */
  readonly outstanding_minor: number | bigint | null;
  readonly overdue_minor: number | bigint | null;
  readonly minor_digits: number;
}

export interface ChangeFilter {
  /** A cursor, `epoch:seq`; default: all changes that are kept. */
  readonly since?: string | undefined;
  readonly account?: string | undefined;
  readonly vendorid?: number | undefined;
  /** The largest page, from 1 to 1,000; default 200. */
  readonly limit?: number | undefined;
}

export interface ChangePage {
  /** Oldest first. */
  readonly changes: readonly VendorChange[];
  /** Goes on after this page, also where it is empty. */
  readonly cursor: string;
  /** Whether there may be more already. */
  readonly more: boolean;
}

/** A row of the view `freshness`, for one account; times are UTC. */
export interface Freshness {
  readonly account_id: string;
  /** The moment up to which the mirror holds everything; null if it never was whole. */
  readonly safe_as_of: string | null;
  /** The same for what lists show. */
  readonly listed_as_of: string | null;
  readonly last_complete_sweep: string | null;
  readonly oldest_unsettled_delivery: string | null;
  readonly open_suspects: number;
  readonly parked_vendors: number;
  readonly callback_verified: boolean | null;
  readonly not_served_since: string | null;
  /** Since when the account is paused; null if it is not. */
  readonly paused_since: string | null;
  /** Vendors about which the last complete run could not decide; they limit `safe_as_of`. */
  readonly undecided: number;
}

export type QueryValue = string | number | bigint | null;
/** Values for `?`, in order; or by name, for `:name`. */
export type QueryParameters = readonly QueryValue[] | Readonly<Record<string, QueryValue>>;
/** By the names of its columns. A whole number is a `bigint` only where a `number` would round it. */
export type QueryRow = Readonly<Record<string, QueryValue>>;

/**
 * - `usage`: a wrong argument, a query that is not one SELECT, or a mirror that was closed
 * - `database_unusable`: no file, no mirror, or a file that may not be read
 * - `database_older`: a mirror of an older version than this package
 * - `database_newer`: a mirror of a newer version than this package
 * - `database_corrupt`: a damaged file
 * - `database_locked`: another program kept the file locked
 * - `history_gone`: changes after this cursor are not known any more; `oldest` and `latest` say where to begin
 * - `driver_unusable`: the SQLite driver cannot be loaded
 * - `bug`: anything else
 */
export type ReaderErrorCode =
  | 'usage'
  | 'database_unusable'
  | 'database_older'
  | 'database_newer'
  | 'database_corrupt'
  | 'database_locked'
  | 'history_gone'
  | 'driver_unusable'
  | 'bug';

/** The message says what happened, the hint what to do. */
export class ReaderError extends Error {
  override readonly name: string = 'ReaderError';
  readonly code: ReaderErrorCode;
  readonly hint: string;
  /** With `history_gone`: the cursor after which nothing is missing. */
  readonly oldest: string | undefined;
  /** With `history_gone`: the latest cursor; everything before it is in the vendors themselves. */
  readonly latest: string | undefined;

  constructor(
    code: ReaderErrorCode,
    message: string,
    more: { hint?: string; oldest?: string; latest?: string; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? {} : { cause: more.cause });
    this.code = code;
    this.hint = more.hint ?? '';
    this.oldest = more.oldest;
    this.latest = more.latest;
  }
}

const codes: Partial<Record<ErrorCode, ReaderErrorCode>> = {
  usage: 'usage',
  database_unusable: 'database_unusable',
  // A file whose migrations are not ours.
  migration_failed: 'database_unusable',
  database_older: 'database_older',
  database_newer: 'database_newer',
  database_corrupt: 'database_corrupt',
  database_locked: 'database_locked',
  driver_unusable: 'driver_unusable',
};

/** Any thrown thing, as a reader's error. @internal */
export function asReaderError(error: unknown): ReaderError {
  if (error instanceof ReaderError) return error;
  if (!(error instanceof MirrorError))
    return new ReaderError('bug', error instanceof Error ? error.message : String(error), { cause: error });
  const { code, message, hint } = error;
  return new ReaderError(codes[code] ?? 'bug', message, { hint: code === 'usage' ? '' : hint, cause: error });
}
