/**
 * Creates a vendor. The creation is recorded on disk before it is sent: where the answer or this process is lost, the service is searched
 * for the vendor before another of its name is created.
 *
 * The search is a sweep that looks for a vendor with that name (`_creations`) that the mirror did not hold before. One that matches the
 * request is the answer, and the command exits with 0; one with the same name and other fields is shown, and it exits with 1. If the search
 * fails, nothing is sent. `vendors create --again` creates without a search.
 */
import { withMessage, asMirrorError, MirrorError } from '../../domain/errors.ts';
import type { NewVendor } from '../../api/requests.ts';
import { sleep } from '../../domain/clock.ts';
import type { VendorReading } from '../../domain/reading.ts';
import type { SyncAccount } from '../sync-account.ts';
import {
  applyAnswer,
  type WriteReport,
  readAfterLag,
  sweepNow,
  notTaken,
  describeSent,
  type WriteOptions,
} from './answer.ts';
import type { OpenCreation } from '../../store/writes.ts';

/**
 * Creates a vendor at the service and in the mirror, unless an earlier creation has already succeeded, and reports it.
 * @throws MirrorError, with `mayBeDone` where it may have been created.
 */
export async function createVendor(
  account: SyncAccount,
  fields: NewVendor,
  { signal, again, by, tell }: WriteOptions,
): Promise<void> {
  const { mirror, accountId, vendors } = account;
  const { vendor_name } = fields;
  const close = async (report: WriteReport): Promise<void> => {
    await tell(report);
    await mirror.writes.endCreation(accountId, vendor_name);
  };
  // What differs from the request may be somebody else's: the creation stays open.
  const closeFound = (found: WriteReport): Promise<void> | void =>
    found.notTaken.length === 0 ? close(found) : tell(found);
  const earlier = again ? undefined : await mirror.writes.openCreation(accountId, vendor_name);
  const found = earlier && (await searchFirst(account, fields, earlier, signal));
  if (found) return closeFound(found);
  await mirror.writes.beginCreation(accountId, vendor_name, by);
  let answer: VendorReading;
  try {
    answer = await vendors.create(fields, { signal });
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    if (error.mayBeDone) return closeFound(await searchAfter(account, fields, error, signal));
    await mirror.writes.endCreation(accountId, vendor_name);
    throw error;
  }
  await close(await applyAnswer(account, fields, answer, signal));
}

const retryAdvice =
  'If you run the same command again, the service is searched first; --again creates the vendor without a search.';

async function searchFirst(
  account: SyncAccount,
  fields: NewVendor,
  earlier: OpenCreation,
  signal: AbortSignal,
): Promise<WriteReport | undefined> {
  try {
    return await search(account, fields, earlier, signal);
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    throw withMessage(
      error,
      `A creation of "${fields.vendor_name}" was sent ${describeSent(earlier)} and may have been carried out; the service could not be searched for it: ${error.message} Nothing was sent. ${retryAdvice}`,
    );
  }
}

async function searchAfter(
  account: SyncAccount,
  fields: NewVendor,
  doubt: MirrorError,
  signal: AbortSignal,
): Promise<WriteReport> {
  const open = await account.mirror.writes.openCreation(account.accountId, fields.vendor_name);
  if (!open || signal.aborted) throw withMessage(doubt, `${doubt.message} ${retryAdvice}`);
  let found: WriteReport | undefined;
  try {
    found = await search(account, fields, open, signal);
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    throw withMessage(
      doubt,
      `${doubt.message} The service could not be searched for it: ${error.message} ${retryAdvice}`,
    );
  }
  if (found) return { ...found, notes: [doubt.message, ...found.notes] };
  throw withMessage(doubt, `${doubt.message} The service does not show it yet. ${retryAdvice}`);
}

/**
 * Sweeps the account and looks for a vendor of this name that the mirror did not hold before the creation. One that differs from the
 * request may be someone else's: the creation stays open, and only `--again` creates another.
 * @throws MirrorError where there is none and the sweep was incomplete.
 */
async function search(
  account: SyncAccount,
  fields: NewVendor,
  { known }: OpenCreation,
  signal: AbortSignal,
): Promise<WriteReport | undefined> {
  const { mirror, accountId, clock, sync } = account;
  // Lists may be made from copies that are older than the creation.
  await sleep(clock, sync.lag, signal);
  const failure = await sweepNow(account, signal).then(() => undefined, asMirrorError);
  const candidates = (await mirror.writes.vendorsNamed(accountId, fields.vendor_name)).filter(
    (id) => !known.includes(id),
  );
  let best: WriteReport | undefined;
  for (const vendorid of candidates) {
    const missing = await missingFrom(account, fields, vendorid, signal);
    if (!best || missing.length < best.notTaken.length) best = { vendorid, notTaken: missing, notes: [] };
  }
  if (!best) {
    if (failure) throw failure;
    return undefined;
  }
  const { vendorid } = best;
  const note = `The service shows vendor ${vendorid} with that name, which was not in the mirror before, so it is taken to be the one that was created. Nothing was sent again; --again creates another.`;
  return { ...best, notes: [note] };
}

async function missingFrom(
  account: SyncAccount,
  fields: NewVendor,
  vendorid: number,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const stored = await account.mirror.writes.storedVendor(account.accountId, vendorid);
  try {
    // Lists may leave fields out, so the vendor is read by id.
    return notTaken(fields, await readAfterLag(account, vendorid, signal));
  } catch (error) {
    if (!(error instanceof MirrorError) || !stored) throw error;
    return notTaken(fields, stored.vendor);
  }
}
