/** `gateways remove`: removes a payment gateway in the service, after a confirmation. */
import { gatewayRemoval } from '../api/requests.ts';
import { exitStatus } from '../domain/errors.ts';
import { showRequest, type DryRunOption } from './dry-run.ts';
import { loadSettings, oneAccount } from './load-settings.ts';
import type { CommandHandler } from './process/command.ts';
import { printError, printJson, printNotice, printText } from './terminal/print.ts';
import { isConfirmed } from './terminal/prompt.ts';
import { withInstallation } from './with-installation.ts';

interface RemoveOptions extends DryRunOption {
  readonly yes?: boolean;
}

export const gatewaysRemove: CommandHandler<RemoveOptions> = async (call) => {
  const { context, options } = call;
  const sgid = Number(call.args[0]);
  const settings = loadSettings(call);
  const account = oneAccount(settings);
  if (options.dryRun) return showRequest(call, settings, gatewayRemoval(account, sgid));
  const question = `Only the service's own interface can enable a gateway again. Remove ${sgid} of ${account}?`;
  if (!(await isConfirmed(context, () => Promise.resolve(question), options.yes))) {
    printNotice(context, 'Nothing was done.');
    return exitStatus.incomplete;
  }
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
