/** `gateways list`: the payment processors that are enabled, and those that were. */
import { age } from '../domain/clock.ts';
import { exitStatus } from '../domain/errors.ts';
import { listGateways } from '../store/gateways.ts';
import { loadSettings } from './load-settings.ts';
import { queryMirror } from './open-mirror.ts';
import type { CommandHandler } from './process/command.ts';
import { print, printJson, printNotice } from './terminal/print.ts';
import { table } from './terminal/table.ts';

export const gatewaysList: CommandHandler = async (call) => {
  const { context, options } = call;
  const found = await queryMirror(context, loadSettings(call), (snapshot) => listGateways(snapshot, options.account));
  const gateways = found ?? [];
  if (options.json) printJson(context, { ok: true, gateways });
  else if (gateways.length > 0)
    print(
      context,
      await table(
        context,
        [
          { title: 'account', dropOrder: 3, cell: (gateway) => gateway.account_id },
          { title: 'sgid', right: true, cell: (gateway) => gateway.sgid },
          { title: 'name', cell: (gateway) => gateway.gateway_name },
          { title: 'connectionid', dropOrder: 1, cell: (gateway) => gateway.connectionid },
          { title: 'first seen', dropOrder: 2, cell: (gateway) => age(context.clock, gateway.first_seen_at) },
          { title: 'removed', cell: (gateway) => gateway.removed_at && age(context.clock, gateway.removed_at) },
        ],
        gateways,
      ),
    );
  else if (found) printNotice(context, 'The mirror holds no gateways.');
  return exitStatus.done;
};
