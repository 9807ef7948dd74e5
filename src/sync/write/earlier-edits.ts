/**
 * Earlier edits of a vendor with an unknown outcome: the answer was lost, or the process died. The vendor is read before anything else is
 * sent.
 */
import { withMessage } from '../../domain/with-message.ts';
import type { VendorEdit } from '../../api/requests.ts';
import { MirrorError } from '../../domain/errors.ts';
import { mergeReading, type Vendor } from '../../domain/vendor.ts';
import type { SyncAccount } from '../account/sync-account.ts';
import type { WriteReport } from './answer.ts';
import { currentVendor } from './current-vendor.ts';
import { notTaken } from './check-answer.ts';
import { describeSent, type WriteOptions } from './write-options.ts';
import type { OpenEdit } from '../../store/records/write-record.ts';

export const retryAdvice = 'The next edit of the vendor reads it first; --again sends without reading.';

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
