/** Mirrors the gateways of an account, in one transaction. */
import type { GatewaysApi } from '../../api/gateways.ts';
import type { Store } from '../../store/store.ts';

export interface GatewayCount {
  readonly seen: number;
  readonly removed: number;
}

/** Mirrors the gateways. One counts as removed only when a second list, requested at once, does not show it either. */
export async function pullGateways(
  { gateways, mirror, accountId }: { gateways: GatewaysApi; mirror: Store; accountId: string },
  signal: AbortSignal,
): Promise<GatewayCount> {
  const listed = await gateways.list({ signal });
  const enabled = await mirror.gateways.enabledGateways(accountId);
  const here = new Set(listed.map(({ sgid }) => sgid));
  const second = enabled.every((sgid) => here.has(sgid)) ? [] : await gateways.list({ signal });
  const both = [...listed, ...second.filter(({ sgid }) => !here.has(sgid))];
  const removed = await mirror.gateways.replaceGateways(accountId, both);
  return { seen: both.length, removed };
}
