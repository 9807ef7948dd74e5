/** Handles the answer to a write: applies it at once, unless the vendor was read otherwise meanwhile, and compares it with the request. */
import type { VendorEdit } from '../../api/requests.ts';
import { MirrorError } from '../../domain/errors.ts';
import type { VendorReading } from '../../domain/reading.ts';
import type { SyncAccount } from '../account/sync-account.ts';
import { readAfterLag } from './current-vendor.ts';
import { missingFields, notTaken } from './check-answer.ts';

/** The result of a write that was carried out. */
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
    const context = { accountId, source: 'write', runId: null, deliveryId: null, lag: sync.lag } as const;
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
