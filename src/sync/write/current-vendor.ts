/** Reads a vendor's current state at the service, after a write with an unknown outcome. */
import { sleep } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import type { VendorReading } from '../../domain/reading.ts';
import type { Vendor, VendorField } from '../../domain/vendor.ts';
import type { SyncAccount } from '../account/sync-account.ts';
import { pull, type PullOptions } from '../run/run.ts';

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
