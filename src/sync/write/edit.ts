/**
 * An edit of a vendor. Where the answer leaves open whether it was carried out, the vendor is looked at before anything is sent again;
 * and that happens only if the vendor is exactly what it was before, so that nothing is undone that somebody did since.
 */
import { withMessage } from '../../domain/with-message.ts';
import type { VendorEdit } from '../../api/vendors.ts';
import { MirrorError } from '../../domain/errors.ts';
import { mergeReading, type Vendor } from '../../domain/vendor.ts';
import type { Engine } from '../account/engine.ts';
import { applyAnswer, type WriteReport } from './answer.ts';
import { look } from './look.ts';
import { notTaken } from './taken.ts';

/** Times that one edit is sent at most. */
const most = 3;

/** Changes a vendor at the service and in the mirror. @throws MirrorError, with `mayBeDone` where that is still open. */
export async function editVendor(
  engine: Engine,
  vendorid: number,
  fields: VendorEdit,
  signal: AbortSignal,
): Promise<WriteReport> {
  const { mirror, accountId, vendors } = engine;
  const before = await mirror.storedVendor(accountId, vendorid);
  for (let sent = 1; ; sent += 1) {
    try {
      return await applyAnswer(engine, fields, await vendors.edit(vendorid, fields, { signal }), signal);
    } catch (error) {
      if (!(error instanceof MirrorError) || !error.mayBeDone) throw error;
      await mirror.markVendors(accountId, [vendorid], 'asked', 0);
      const shown = await lookAfter(error, engine, vendorid, signal);
      const missing = notTaken(fields, shown);
      if (missing.length === 0)
        return { vendorid, notTaken: [], notes: [`${error.message} The service shows that it was.`] };
      const untouched = before && mergeReading(before.vendor, shown).changed.length === 0;
      if (untouched && sent < most) continue;
      const why = untouched ? `It was sent ${most} times` : 'Somebody may have changed the vendor since';
      throw withMessage(
        error,
        `${error.message} Read again, the service shows vendor ${vendorid} without it (${missing.join(', ')}). ${why}, so it is not sent again; the vendor is marked to be read.`,
      );
    }
  }
}

async function lookAfter(doubt: MirrorError, engine: Engine, vendorid: number, signal: AbortSignal): Promise<Vendor> {
  const marked = `Vendor ${vendorid} is marked to be read; look at it before you try again.`;
  if (signal.aborted) throw withMessage(doubt, `${doubt.message} ${marked}`);
  try {
    return await look(engine, vendorid, signal);
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    throw withMessage(doubt, `${doubt.message} It could not be looked at: ${error.message} ${marked}`);
  }
}
