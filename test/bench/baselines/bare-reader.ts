/** The baseline of following a delivery: one vendor read by its number with node:http, and one durable commit. */
import { bareGet, vendorPath, type WireVendor } from './bare-get.ts';
import { bareMirror } from './bare-mirror.ts';
import { account, type Place } from '../setup/installation.ts';
import type { JobResult } from '../setup/job.ts';
import { firstId } from '../setup/texts.ts';

interface Document {
  readonly response: { readonly result: { readonly bill_vendor: WireVendor } };
}

/** Vendors that may be asked for. */
const known = 100;

/** Asked for a vendor, it reads it, and answers how many milliseconds passed until that was on disk. */
export function job({ baseUrl, folder }: Place): Promise<JobResult> {
  const sqlite = bareMirror(folder);
  const insert = sqlite.prepare(
    "INSERT INTO vendors (account_id, vendorid, first_seen_at, changed_at, source, read_seq, held_since_ms, raw) VALUES (?, ?, '', '', 'pull', 0, 0, '{}')",
  );
  for (let index = 0; index < known; index += 1) insert.run(account, firstId + index);
  const update = sqlite.prepare(
    "UPDATE vendors SET phone = ?, updated_at = ?, changed_at = ?, source = 'delivery', read_seq = read_seq + 1, raw = ? WHERE account_id = ? AND vendorid = ?",
  );
  const apply = sqlite.transaction((vendor: WireVendor) => {
    const { vendorid, phone, updated_at } = vendor;
    const at = new Date().toISOString();
    if (update.run(phone, updated_at, at, JSON.stringify(vendor), account, vendorid).changes === 0)
      throw new Error(`${vendorid} is not known.`);
  });
  return Promise.resolve({
    result: undefined,
    async answer({ vendorid }: { vendorid: number }) {
      const begun = performance.now();
      const { response } = (await bareGet(baseUrl, vendorPath(vendorid))) as Document;
      apply.immediate(response.result.bill_vendor);
      return performance.now() - begun;
    },
    stop: () => Promise.resolve(void sqlite.close()),
  });
}
