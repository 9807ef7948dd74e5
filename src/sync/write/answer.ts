/**
 * What follows a write: its answer is applied at once, unless the vendor was read otherwise meanwhile, and compared with the request;
 * where the outcome is unknown, the vendor is read.
 *
 * When two writes, or a write and a reading, were under way together, nothing tells which one the service answered last, so the vendor is
 * read again after both. If the service does not show the requested fields, the command exits with 1 (`not_taken`).
 */
import type { TaxDefaultFields, VendorEdit } from '../../api/requests.ts';
import { sleep } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import type { VendorReading } from '../../domain/reading.ts';
import { secondLookDelay } from '../../domain/retry.ts';
import { Unreadable, vendorFields, type TaxDefault, type Vendor, type VendorField } from '../../domain/vendor.ts';
import { pull, type PullOptions } from '../run.ts';
import type { SyncAccount } from '../sync-account.ts';

export interface WriteReport {
  readonly vendorid: number;
  /** Fields that the service shows with another value than requested. */
  readonly notTaken: readonly string[];
  /** Notes for a person, in sentences. */
  readonly notes: readonly string[];
}

/** Applies the answer to a creation or an edit. Where it leaves fields out, the vendor is marked, and read again at once if possible. */
export async function applyAnswer(
  account: SyncAccount,
  requested: VendorEdit,
  answer: VendorReading,
  signal: AbortSignal,
): Promise<WriteReport> {
  const { mirror, accountId, sync } = account;
  const { vendorid } = answer.row;
  const answered = answer.row.vendor();
  const missing = missingFields(answered, answer.row.excluded);
  const notes: string[] = [];
  if (missing.length > 0) await mirror.queue.markVendors(accountId, [vendorid], 'asked', 0);
  // Fields that an answer leaves out keep their value; for a new vendor they would be stored as null.
  if (missing.length === 0 || (await mirror.writes.storedVendor(accountId, vendorid))) {
    const context = {
      ...({ accountId, source: 'write', runId: null, deliveryId: null } as const),
      ...{ lag: sync.lag, rest: secondLookDelay(sync) },
    };
    const { kind } = await mirror.readings.applyReading(answer, context);
    if (kind === 'stale' || kind === 'guarded')
      notes.push('The vendor was also read or written otherwise meanwhile, so it is marked to be read again.');
  }
  if (missing.length === 0) return { vendorid, notTaken: notTaken(requested, answered), notes };
  notes.push(
    `The service answered without some fields of the vendor (${missing.join(', ')}); it is marked to be read.`,
  );
  try {
    const shown = { ...answered, ...(await readAfterLag(account, vendorid, signal)) };
    return { vendorid, notTaken: notTaken(requested, shown), notes };
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    notes.push(`It could not be read at once: ${error.message}`);
    return { vendorid, notTaken: notTaken(requested, answered), notes };
  }
}

/** Fields that a complete answer may leave out: the service sends them only if they were ever set, or never. */
const optional: ReadonlySet<VendorField> = new Set(['note', 'primary_contact']);

function missingFields(answer: Vendor, excluded: ReadonlySet<string> | undefined): VendorField[] {
  return vendorFields.filter((field) => !optional.has(field) && !excluded?.has(field) && answer[field] === undefined);
}

/** The requested fields that the vendor does not show. A missing field counts as null. */
export function notTaken(requested: VendorEdit, shown: Vendor): string[] {
  return Object.entries(requested)
    .filter(([name, value]) => !isShown(name, value, shown))
    .map(([name]) => name);
}

function isShown(name: string, value: unknown, shown: Vendor): boolean {
  if (name === 'tax_defaults') {
    const taxes = shown.tax_defaults ?? [];
    return !(taxes instanceof Unreadable) && areSet((value ?? []) as readonly TaxDefaultFields[], taxes);
  }
  const now = shown[name as VendorField];
  // Empty text may be returned as null, and the other way round; NUL is not stored.
  return plain(value) === plain(now);
}

function plain(value: unknown): unknown {
  if (value === null || value === undefined || value === false) return '';
  return typeof value === 'string' ? value.replaceAll('\0', '') : value;
}

/** A list of tax defaults replaces the previous one: exactly these must be shown. */
function areSet(requested: readonly TaxDefaultFields[], shown: readonly TaxDefault[]): boolean {
  return (
    requested.length === shown.length && requested.every((tax) => shown.some((candidate) => isTax(tax, candidate)))
  );
}

function isTax(requested: TaxDefaultFields, shown: TaxDefault): boolean {
  return (
    requested.system_taxid === shown.system_taxid &&
    (requested.enabled === undefined || requested.enabled === shown.enabled) &&
    (requested.tax_authorityid === undefined || plain(requested.tax_authorityid) === plain(shown.tax_authorityid))
  );
}

/**
 * Reads a vendor by id after `sync.lag`, when no copy can be older than the write, and applies the answer.
 * @throws MirrorError as `VendorsApi.read`.
 */
export async function readAfterLag(account: SyncAccount, vendorid: number, signal: AbortSignal): Promise<Vendor> {
  const { mirror, accountId, vendors, clock, sync } = account;
  await sleep(clock, sync.lag, signal);
  const reading = await vendors.read(vendorid, { signal });
  await mirror.readings.applyReading(reading, {
    accountId,
    source: 'pull',
    runId: null,
    deliveryId: null,
    lag: sync.lag,
    rest: secondLookDelay(sync),
  });
  return reading.row.vendor();
}

/**
 * The vendor as the service shows it now: read by id, or by a sweep where that is not offered. The stored vendor may be older than the
 * write.
 * @throws MirrorError where it is not shown, or without the `fields` in question.
 */
export async function currentVendor(
  account: SyncAccount,
  vendorid: number,
  fields: readonly string[],
  signal: AbortSignal,
): Promise<Vendor> {
  try {
    return await readAfterLag(account, vendorid, signal);
  } catch (error) {
    if (!(error instanceof MirrorError) || (error.code !== 'not_found' && error.code !== 'not_supported')) throw error;
  }
  let latest: VendorReading | undefined;
  await sweepNow(account, signal, (pages) => {
    for (const { stamp, rows } of pages)
      for (const row of rows)
        if (row.vendorid === vendorid && stamp.readSeq >= (latest?.stamp.readSeq ?? 0)) latest = { stamp, row };
  });
  const shown = latest?.row.vendor();
  if (!shown) throw new MirrorError('not_found', `The service does not show vendor ${vendorid}.`);
  const hidden = fields.filter((field) => shown[field as VendorField] === undefined);
  if (hidden.length === 0) return shown;
  throw new MirrorError('not_found', `The lists of the service show vendor ${vendorid} without ${hidden.join(', ')}.`);
}

/** Runs a complete sweep that begins now. @throws MirrorError the error of the run. */
export async function sweepNow(
  account: SyncAccount,
  signal: AbortSignal,
  onPages: PullOptions['onPages'] = () => undefined,
): Promise<void> {
  const { error } = await pull(account, { kind: 'pull', trigger: 'command', signal, onPages });
  if (error) throw error;
}

export interface WriteOptions {
  readonly signal: AbortSignal;
  /** Sends without checking the outcome of an earlier open write. */
  readonly again: boolean;
  /** The user's name on this machine, where known. */
  readonly by: string | null;
  /**
   * Called with the report before the write is closed. If the process dies in between, whoever asked may not have been told: the write
   * stays open, and the next command looks before it sends.
   */
  readonly tell: (report: WriteReport) => Promise<void> | void;
}

export function describeSent({ sentAt, sentBy }: { readonly sentAt: string; readonly sentBy: string | null }): string {
  return `at ${sentAt} UTC${sentBy === null ? '' : ` by ${sentBy}`}`;
}
