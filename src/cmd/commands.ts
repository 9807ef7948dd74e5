/** The commands, in the order in which help lists them. What a command needs is loaded only when it runs. */
import type { Command } from 'commander';
import type { Does } from './command.ts';
import { addCommonOptions } from './common-options.ts';
import { declareCallbacks } from './declare-callbacks.ts';
import { declareDeliveries } from './declare-deliveries.ts';
import { declareGateways } from './declare-gateways.ts';
import { declareFeeds, declareStatus } from './declare-mirror.ts';
import { declareRuns } from './declare-runs.ts';
import { declareVendors } from './declare-vendors.ts';
import type { Edge } from './edge.ts';
import { sandboxCommand } from './sandbox.ts';

export function declareCommands(program: Command, edge: Edge, does: Does): void {
  declareRuns(program, does);
  declareStatus(program, does);
  declareVendors(program, does);
  declareGateways(program, does);
  declareCallbacks(program, does);
  declareDeliveries(program, does);
  declareFeeds(program, does);
  for (const command of leaves(program)) addCommonOptions(command);
  program.addCommand(sandboxCommand(edge).copyInheritedSettings(program));
}

/** The commands that do something themselves. */
function leaves(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
}
