/**
 * Edits a vendor. The edit is recorded on disk before it is sent, and earlier ones with an unknown outcome are settled first, by reading
 * the vendor.
 *
 * An edit whose answer is lost, cut off or about another vendor is not repeated blindly. The vendor is marked and read after `sync.lag`: by
 * id, or else by a sweep, of which only pages read then count, and only for the fields in question. If it shows what was requested, the edit
 * is done. If it is exactly what the mirror held before, the edit is sent again, three times at most. Otherwise somebody else may have
 * changed it, and the command exits with 69.
 *
 * The record (`_edits`: who, when and the names of the fields) covers `edit`, `delete`, `archive` and `restore`. While the outcome is
 * unknown, as after a `kill -9`, the next such command on that vendor reads it first and says so. If it has changed since, it is edited only
 * if the fields are different ones; otherwise nothing is sent and the command exits with 1. `--again` sends without reading first, and
 * closes the open edits of the same fields.
 */
import type { VendorEdit } from '../../api/requests.ts';
import { MirrorError, withMessage } from '../../domain/errors.ts';
import type { VendorReading } from '../../domain/reading.ts';
import { mergeReading, type Vendor } from '../../domain/vendor.ts';
import type { OpenEdit } from '../../store/writes.ts';
import type { SyncAccount } from '../sync-account.ts';
import { applyAnswer, currentVendor, describeSent, notTaken, type WriteOptions, type WriteReport } from './answer.ts';

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

interface SentEdit {
  readonly id: number;
  readonly vendorid: number;
  readonly fields: VendorEdit;
  /** The stored vendor when the edit began. */
  readonly before: Vendor | undefined;
}

/** Sends the edit, and repeats it only where a read showed that nothing has changed. @returns the answer, or a report from the read. */
async function sendUntilKnown(
  account: SyncAccount,
  { id, vendorid, fields, before }: SentEdit,
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
  { vendorid, fields }: Pick<SentEdit, 'vendorid' | 'fields'>,
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

/**
 * Earlier edits of a vendor with an unknown outcome: the answer was lost, or the process died. The vendor is read before anything else is
 * sent.
 */

const retryAdvice = 'The next edit of the vendor reads it first; --again sends without reading.';

type EarlierEdits = NotDone | Done;

interface NotDone {
  readonly done?: undefined;
  readonly notes: readonly string[];
}

/** The vendor already shows what is requested: nothing is sent. */
interface Done {
  readonly done: WriteReport;
  /** Ids of the edits of which the outcome is now known. */
  readonly answered: readonly number[];
}

/**
 * Reads a vendor that has open edits.
 * @throws MirrorError where it cannot be read, or where the request might undo someone's later change.
 */
export async function resolveEarlier(
  account: SyncAccount,
  vendorid: number,
  fields: VendorEdit,
  { again, signal }: WriteOptions,
): Promise<EarlierEdits> {
  const { mirror, accountId } = account;
  const earlier = await mirror.writes.openEdits(accountId, vendorid);
  if (earlier.length === 0) return { notes: [] };
  if (again) {
    // Edits of other fields stay open: the next command on those still reads first.
    await mirror.writes.endEdits(idsOf(earlier.filter((edit) => sharesField(edit, fields))));
    return { notes: [] };
  }
  const sent = `${earlier.map(describeEdit).join(' ')} It is not known whether that was carried out.`;
  const before = (await mirror.writes.storedVendor(accountId, vendorid))?.vendor;
  const concerned = [...Object.keys(fields), ...earlier.flatMap((edit) => edit.fields)];
  const shown = await lookUp(account, vendorid, { sent, fields: concerned }, signal);
  const changed = await changedSince(account, vendorid, before, shown);
  const missing = notTaken(fields, shown);
  if (missing.length === 0) {
    const answered = idsOf(earlier.filter((edit) => edit.fields.every((name) => Object.hasOwn(fields, name))));
    const note = `${sent} The service already shows vendor ${vendorid} as requested; nothing was sent.`;
    return { done: { vendorid, notTaken: [], notes: [note] }, answered };
  }
  if (changed === undefined) {
    await mirror.writes.endEdits(idsOf(earlier));
    return { notes: [`${sent} The service shows vendor ${vendorid} as it was before that.`] };
  }
  const now =
    changed.length > 0
      ? `The service shows vendor ${vendorid} changed since then (${changed.join(', ')})`
      : `The service shows vendor ${vendorid}, which was not in the mirror then`;
  if (!earlier.some((edit) => sharesField(edit, fields))) return { notes: [`${sent} ${now}.`] };
  throw new MirrorError(
    'not_taken',
    `${sent} ${now}, and without what is requested (${missing.join(', ')}): somebody may have changed it since. Nothing was sent; --again sends it.`,
  );
}

const sharesField = (edit: OpenEdit, fields: VendorEdit): boolean =>
  edit.fields.some((name) => Object.hasOwn(fields, name));

const idsOf = (edits: readonly OpenEdit[]): number[] => edits.map(({ id }) => id);

function describeEdit(edit: OpenEdit): string {
  return `An edit (${edit.fields.join(', ')}) was sent ${describeSent(edit)}.`;
}

async function lookUp(
  account: SyncAccount,
  vendorid: number,
  { sent, fields }: { readonly sent: string; readonly fields: readonly string[] },
  signal: AbortSignal,
): Promise<Vendor> {
  try {
    return await currentVendor(account, vendorid, fields, signal);
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    const words = `${sent} The vendor could not be read: ${error.message} Nothing was sent. ${retryAdvice}`;
    throw withMessage(error, words);
  }
}

/** Fields that changed since the earlier edits; undefined where the vendor is unchanged. */
async function changedSince(
  { mirror, accountId }: SyncAccount,
  vendorid: number,
  before: Vendor | undefined,
  shown: Vendor,
): Promise<string[] | undefined> {
  const edits = await mirror.writes.openEdits(accountId, vendorid);
  // A guarded reading is in no stored version yet.
  const guarded = before ? mergeReading(before, shown).changed : [];
  if (before && guarded.length === 0 && edits.every(({ isUntouched }) => isUntouched)) return undefined;
  return [...new Set([...guarded, ...edits.flatMap(({ changed }) => changed)])];
}
