/** `gateways list` and `remove`: the payment processors that are enabled, and those that were; removed at the service, after a confirmation. */
import { gatewayRemoval } from '../api/requests.ts';
import { age } from '../domain/clock.ts';
import { exitStatus } from '../domain/errors.ts';
import { listGateways } from '../store/gateways.ts';
import { unlistedGateways } from '../store/not-honoured.ts';
import { showRequest, type DryRunOption } from './with-installation.ts';
import { loadSettings, oneAccount } from './load-settings.ts';
import { queryMirror } from './open-mirror.ts';
import type { CommandHandler } from './process/command.ts';
import { printError, printJson, printNotice, printText } from './terminal/print.ts';
import { isConfirmed } from './terminal/prompt.ts';
import { printTable } from './terminal/table.ts';

export const gatewaysList: CommandHandler = async (call) => {
  const { context, options } = call;
  const found = await queryMirror(context, await loadSettings(call), async (snapshot) => ({
    gateways: await listGateways(snapshot, options.account),
    unlisted: await unlistedGateways(snapshot, options.account),
  }));
  const { gateways, unlisted } = found ?? { gateways: [], unlisted: [] };
  if (options.json) printJson(context, { ok: true, gateways, unlisted });
  else if (gateways.length > 0)
    await printTable(
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
    );
  else if (found) printNotice(context, 'The mirror holds no gateways.');
  for (const { account_id, since, message } of unlisted)
    printNotice(
      context,
      `${account_id}: the service has not listed its gateways since ${since} UTC; what the mirror holds is from before: ${message}`,
    );
  return exitStatus.done;
};

export const gatewaysRemove: CommandHandler<DryRunOption & { readonly yes?: boolean }> = async (call) => {
  const { context, options } = call;
  const sgid = Number(call.args[0]);
  const settings = await loadSettings(call);
  const account = oneAccount(settings);
  if (options.dryRun) return showRequest(call, settings, gatewayRemoval(account, sgid));
  const question = `Only the service's own interface can enable a gateway again. Remove ${sgid} of ${account}?`;
  if (!(await isConfirmed(context, question, options.yes))) {
    printNotice(context, 'Nothing was done.');
    return exitStatus.incomplete;
  }
  // `list` reads the mirror alone.
  const { withInstallation } = await import('./with-installation.ts');
  const signal = context.interrupted;
  const { error } = await withInstallation(call, settings, async (installation) => {
    await installation.account(account).client.gateways.remove(sgid, { signal });
    return installation.pullGateways(account, { signal });
  });
  if (options.json) printJson(context, { ok: true, account, sgid });
  else printText(context, `Gateway ${sgid} is removed; only the service's own interface can enable it again.`);
  if (error) printError(context, error, 'the mirror could not be updated');
  return error?.exit ?? exitStatus.done;
};
