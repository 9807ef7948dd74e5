/** What the service answers to a write of ours: news from the source itself, and applied at once. */
import type { VendorReading } from '../reading.ts';
import type { Verdict } from '../store/verdict.ts';
import type { Engine } from './engine.ts';

/**
 * Applies the answer to a create or an edit. Where a newer reading was faster, the verdict is `stale`, and the vendor is marked
 * to be read again.
 */
export function applyAnswer(
  { mirror, accountId, sync }: Pick<Engine, 'mirror' | 'accountId' | 'sync'>,
  answer: VendorReading,
): Promise<Verdict> {
  return mirror.applyReading(answer, { accountId, road: 'write', runId: null, deliveryId: null, lag: sync.lag });
}
