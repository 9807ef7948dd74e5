/**
 * Edits a vendor. The edit is recorded on disk before it is sent. Where the answer leaves open whether it was carried out, or the process
 * died, the vendor is read before anything is sent again; the edit is repeated only if the vendor is unchanged, so that nobody's later
 * change is undone.
 */
import { withMessage } from '../../domain/with-message.ts';
import type { VendorEdit } from '../../api/requests.ts';
import { MirrorError } from '../../domain/errors.ts';
import type { VendorReading } from '../../domain/reading.ts';
import { mergeReading, type Vendor } from '../../domain/vendor.ts';
import type { SyncAccount } from '../account/sync-account.ts';
import { applyAnswer, type WriteReport } from './answer.ts';
import { resolveEarlier, retryAdvice } from './earlier-edits.ts';
import { currentVendor } from './current-vendor.ts';
import { notTaken } from './check-answer.ts';
import type { WriteOptions } from './write-options.ts';

/** How often one edit is sent at most. */
const maxAttempts = 3;

/** Changes a vendor at the service and in the mirror, and reports it. @throws MirrorError, with `mayBeDone` where it may have been carried out. */
export async function editVendor(
  account: SyncAccount,
  vendorid: number,
  fields: VendorEdit,
  options: WriteOptions,
): Promise<void> {
  const { mirror, accountId, sync } = account;
  const close = async (ids: readonly number[], report: WriteReport): Promise<void> => {
    await options.tell(report);
    await mirror.writes.endEdits(ids);
  };
  const earlier = await resolveEarlier(account, vendorid, fields, options);
  if (earlier.done) return close(earlier.answered, earlier.done);
  const before = (await mirror.writes.storedVendor(accountId, vendorid))?.vendor;
  const edit = { vendorid, fields: Object.keys(fields), by: options.by, delay: sync.secondLook };
  const id = await mirror.writes.beginEdit(accountId, edit);
  const sent = await sendUntilKnown(account, { id, vendorid, fields, before }, options.signal);
  const report = 'row' in sent ? await applyAnswer(account, fields, sent, options.signal) : sent;
  await close([id], { ...report, notes: [...earlier.notes, ...report.notes] });
}

interface OpenEdit {
  readonly id: number;
  readonly vendorid: number;
  readonly fields: VendorEdit;
  /** The stored vendor when the edit began. */
  readonly before: Vendor | undefined;
}

/** Sends the edit, and repeats it only where a read showed that nothing has changed. @returns the answer, or a report from the read. */
async function sendUntilKnown(
  account: SyncAccount,
  { id, vendorid, fields, before }: OpenEdit,
  signal: AbortSignal,
): Promise<VendorReading | WriteReport> {
  const { mirror, accountId, vendors } = account;
  for (let sent = 1; ; sent += 1) {
    try {
      return await vendors.edit(vendorid, fields, { signal });
    } catch (error) {
      if (!(error instanceof MirrorError)) throw error;
      if (!error.mayBeDone) {
        await mirror.writes.endEdits([id]);
        throw error;
      }
      await mirror.queue.markVendors(accountId, [vendorid], 'asked', 0);
      const shown = await lookUpAfter(error, account, { vendorid, fields }, signal);
      const missing = notTaken(fields, shown);
      if (missing.length === 0)
        return { vendorid, notTaken: [], notes: [`${error.message} The service shows that it was.`] };
      const untouched = before && mergeReading(before, shown).changed.length === 0;
      if (untouched && sent < maxAttempts) continue;
      const why = untouched ? `It was sent ${maxAttempts} times` : 'Somebody may have changed the vendor since';
      throw withMessage(
        error,
        `${error.message} Read again, the service shows vendor ${vendorid} without it (${missing.join(', ')}). ${why}, so it is not sent again; the vendor is marked to be read. ${retryAdvice}`,
      );
    }
  }
}

async function lookUpAfter(
  doubt: MirrorError,
  account: SyncAccount,
  { vendorid, fields }: Pick<OpenEdit, 'vendorid' | 'fields'>,
  signal: AbortSignal,
): Promise<Vendor> {
  const marked = `Vendor ${vendorid} is marked to be read. ${retryAdvice}`;
  if (signal.aborted) throw withMessage(doubt, `${doubt.message} ${marked}`);
  try {
    return await currentVendor(account, vendorid, Object.keys(fields), signal);
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    throw withMessage(doubt, `${doubt.message} It could not be read: ${error.message} ${marked}`);
  }
}
