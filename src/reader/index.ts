/**
 * What the package offers to programs: a mirror, opened to be read.
 *
 * It is compiled separately into `dist/reader` and shares no file with the program, so importing it cannot start anything. Its types are
 * written by hand and checked against what the reports return.
 *
 * ```js
 * import { openMirror } from 'vendor-mirror';
 *
 * const mirror = await openMirror('data/vendors.db');
 * for await (const vendor of mirror.everyVendor({ state: 'active' })) console.log(vendor.vendorid, vendor.vendor_name);
 * mirror.close();
 * ```
 */
export { openMirror, type Mirror, type OpenOptions } from './mirror.ts';
export { ReaderError, type ReaderErrorCode } from './reader-records.ts';
export type {
  Amount,
  ChangeFilter,
  ChangePage,
  ChangedValue,
  Freshness,
  ListedVendor,
  Payable,
  PayableFilter,
  OwedSum,
  Presence,
  QueryParameters,
  QueryRow,
  QueryValue,
  Source,
  TaxDefault,
  Timeline,
  TimelineOptions,
  VendorChange,
  VendorFields,
  VendorFilter,
  VendorPage,
  VendorState,
  VendorWithTimeline,
} from './reader-records.ts';
