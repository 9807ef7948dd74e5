/** `gateways list`: the payment processors that are enabled, and those that were. */
import { exitStatus } from '../errors.ts';
import { listGateways } from '../store/gateway-list.ts';
import { age } from '../age.ts';
import type { Run } from './command.ts';
import { askMirror } from './mirror.ts';
import { print, printJson, remark } from './say.ts';
import { loadSettings } from './settings.ts';
import { table } from './table.ts';

export const gatewaysList: Run = async (call) => {
  const { edge, options } = call;
  const found = await askMirror(edge, loadSettings(call), (sqlite) => listGateways(sqlite, options.account));
  const gateways = found ?? [];
  if (options.json) printJson(edge, { ok: true, gateways });
  else if (gateways.length > 0)
    print(
      edge,
      await table(
        edge,
        [
          { title: 'account', cell: (gateway) => gateway.account_id },
          { title: 'sgid', right: true, cell: (gateway) => gateway.sgid },
          { title: 'name', cell: (gateway) => gateway.gateway_name },
          { title: 'connectionid', cell: (gateway) => gateway.connectionid },
          { title: 'first seen', cell: (gateway) => age(edge.clock, gateway.first_seen_at) },
          { title: 'removed', cell: (gateway) => gateway.removed_at && age(edge.clock, gateway.removed_at) },
        ],
        gateways,
      ),
    );
  else if (found) remark(edge, 'The mirror holds no gateways.');
  return exitStatus.done;
};
