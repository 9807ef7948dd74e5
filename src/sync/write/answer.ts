/**
 * What the service answers to a write of ours: news from the source itself, applied at once unless something else was learned of the vendor
 * meanwhile, and held against what was asked.
 */
import type { VendorEdit } from '../../api/requests.ts';
import { MirrorError } from '../../domain/errors.ts';
import type { VendorReading } from '../../domain/reading.ts';
import type { Engine } from '../account/engine.ts';
import { readAfterLag } from './current-vendor.ts';
import { missingFields, notTaken } from './check-answer.ts';

/** What became of a write that was carried out. */
export interface WriteReport {
  readonly vendorid: number;
  /** Fields that the service does not show as they were asked for. */
  readonly notTaken: readonly string[];
  /** What else a person should know, in sentences. */
  readonly notes: readonly string[];
}

/** Applies the answer to a creation or an edit. Where it tells but a part of the vendor, that is marked, and read at once if it can be. */
export async function applyAnswer(
  engine: Engine,
  requested: VendorEdit,
  answer: VendorReading,
  signal: AbortSignal,
): Promise<WriteReport> {
  const { mirror, accountId, sync } = engine;
  const { vendorid } = answer.row;
  const answered = answer.row.vendor();
  const missing = missingFields(answered, answer.row.excluded);
  const notes: string[] = [];
  if (missing.length > 0) await mirror.queue.markVendors(accountId, [vendorid], 'asked', 0);
  // What an answer leaves out keeps its value; where there is none yet, a part would make a row of nulls.
  if (missing.length === 0 || (await mirror.writes.storedVendor(accountId, vendorid))) {
    const context = { accountId, source: 'write', runId: null, deliveryId: null, lag: sync.lag } as const;
    const { kind } = await mirror.readings.applyReading(answer, context);
    if (kind === 'stale' || kind === 'guarded')
      notes.push('Something else was learned of the vendor meanwhile; it is marked to be read again.');
  }
  if (missing.length === 0) return { vendorid, notTaken: notTaken(requested, answered), notes };
  notes.push(
    `The service answered without ${missing.length} fields of the vendor (${missing.join(', ')}); it is marked to be read.`,
  );
  try {
    const shown = { ...answered, ...(await readAfterLag(engine, vendorid, signal)) };
    return { vendorid, notTaken: notTaken(requested, shown), notes };
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    notes.push(`It could not be read at once: ${error.message}`);
    return { vendorid, notTaken: notTaken(requested, answered), notes };
  }
}
