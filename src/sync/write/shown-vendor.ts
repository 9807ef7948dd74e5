/** What the service shows of a vendor after a write of ours whose answer did not tell. */
import { sleep } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import type { Vendor } from '../../domain/vendor.ts';
import type { Engine } from '../account/engine.ts';
import { pull } from '../run/run.ts';

/** Reads a vendor by id, as soon as no copy of it can be older than the write, and applies what came. @throws MirrorError as `read`. */
export async function readAgain(engine: Engine, vendorid: number, signal: AbortSignal): Promise<Vendor> {
  const { mirror, accountId, vendors, clock, sync } = engine;
  await sleep(clock, sync.lag, signal);
  const reading = await vendors.read(vendorid, { signal });
  await mirror.applyReading(reading, { accountId, source: 'pull', runId: null, deliveryId: null, lag: sync.lag });
  return reading.row.vendor();
}

/**
 * A vendor as the service shows it now: read by id, or by a sweep where the service does not offer that.
 * @throws MirrorError where it cannot be seen.
 */
export async function shownVendor(engine: Engine, vendorid: number, signal: AbortSignal): Promise<Vendor> {
  try {
    return await readAgain(engine, vendorid, signal);
  } catch (error) {
    if (!(error instanceof MirrorError) || (error.code !== 'not_found' && error.code !== 'not_supported')) throw error;
  }
  await sweep(engine, signal);
  const held = await engine.mirror.storedVendor(engine.accountId, vendorid);
  if (held?.presence === 'present') return held.vendor;
  throw new MirrorError('not_found', `The service does not show vendor ${vendorid}.`);
}

/** A complete sweep that begins now. @throws MirrorError what kept it from being complete. */
export async function sweep(engine: Engine, signal: AbortSignal): Promise<void> {
  const { error } = await pull(engine, { kind: 'pull', trigger: 'command', signal });
  if (error) throw error;
}
