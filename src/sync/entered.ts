/**
 * Whether a vendor that a page shows may have entered the list since its walk began (see proof.ts). In doubt it has: all that
 * this costs is one more walk, in which the vendor is an old acquaintance.
 */
import { parseInstant } from '../clock.ts';
import type { VendorPage, VendorRow } from '../reading.ts';
import type { Verdict } from '../store/readings.ts';
import type { Vendor } from '../vendor.ts';

/** The moment at which the list was as large as its first page says, by the clocks of both sides. */
export type Beginning = Pick<VendorPage, 'stamp' | 'servedAt'>;

/** `created_at` may be told in the service's own zone, up to this far behind UTC. Only a first sight is worth so much doubt. */
const farthestZone = 12 * 3_600_000;

export function mayHaveEntered(row: VendorRow, verdict: Verdict, { stamp, servedAt = -Infinity }: Beginning): boolean {
  switch (verdict.kind) {
    case 'created':
      return lastWritten(verdict.vendor) >= servedAt - farthestZone;
    case 'updated':
    case 'guarded': {
      // It came back from a state in which lists may hide it; perhaps without our knowing that it had been in one.
      const { before, after } = verdict;
      const moved = before.vis_state !== after.vis_state || before.presence !== after.presence;
      return moved || lastWritten(row.vendor()) >= servedAt;
    }
    // Another road has brought it meanwhile, and may have brought it as a new one.
    case 'unchanged':
      return verdict.heldSince >= stamp.begun;
    case 'stale':
      return true;
  }
}

/** By the service's word; far in the future where it says nothing. */
function lastWritten({ created_at, updated_at }: Vendor): number {
  const told = [created_at, updated_at].map((text) => (text == null ? undefined : parseInstant(text)));
  return Math.max(...told.map((moment) => moment ?? Infinity));
}
