/** The commands, in the order in which help lists them. What a command needs is loaded only when it runs. */
import type { Command } from 'commander';
import type { LazyAction } from './process/command.ts';
import { addCommonOptions } from './options/common-options.ts';
import { declareAccounts } from './accounts/declare-accounts.ts';
import { declareCallbacks } from './callbacks/declare-callbacks.ts';
import { declareCompletion } from './completion/declare-completion.ts';
import { declareDeliveries } from './deliveries/declare-deliveries.ts';
import { declareGateways } from './gateways/declare-gateways.ts';
import { declareFeeds, declareStatus } from './mirror/declare-mirror.ts';
import { declareLogin } from './login/declare-login.ts';
import { declareNotify } from './notify/declare-notify.ts';
import { declareForget } from './privacy/declare-forget.ts';
import { declareRuns } from './runs/declare-runs.ts';
import { declareSecrets } from './secrets/declare-secrets.ts';
import { declareVendors } from './vendors/declare-vendors.ts';
import type { ProcessContext } from './process/process-context.ts';
import { sandboxCommand } from './sandbox/sandbox-command.ts';

export function declareCommands(program: Command, context: ProcessContext, lazy: LazyAction): void {
  declareRuns(program, lazy);
  declareStatus(program, lazy);
  declareVendors(program, lazy);
  declareGateways(program, lazy);
  declareCallbacks(program, lazy);
  declareDeliveries(program, lazy);
  declareFeeds(program, lazy);
  declareNotify(program, lazy);
  declareForget(program, lazy);
  declareSecrets(program, lazy);
  declareLogin(program, lazy);
  declareAccounts(program, lazy);
  declareCompletion(program, lazy);
  for (const command of leaves(program)) addCommonOptions(command);
  for (const group of [program, ...program.commands])
    if (group.commands.length > 0) group.helpCommand('help [command]', 'print the help of a command');
  program.addCommand(sandboxCommand(context).copyInheritedSettings(program));
}

/** The commands that do something themselves. */
function leaves(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
}
