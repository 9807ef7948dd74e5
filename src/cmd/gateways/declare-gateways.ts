/** The commands about gateways: one reads the mirror, one writes to the service. */
import type { Command } from 'commander';
import type { LazyAction } from '../process/command.ts';
import { examples, paragraphs } from '../terminal/help-text.ts';
import { dryRun } from '../options/common-options.ts';
import { idNumber } from '../options/option-values.ts';

export function declareGateways(program: Command, lazy: LazyAction): void {
  const gateways = program
    .command('gateways')
    .summary('list, remove payment gateways')
    .description('Payment gateways. The command list reads the mirror, remove writes to the service.');
  gateways
    .command('list')
    .summary('list the gateways of the mirror')
    .description('Lists the gateways of the mirror, removed ones included.')
    .action(lazy(async () => (await import('./gateways-list.ts')).gatewaysList));
  gateways
    .command('remove')
    .summary('remove a gateway in the service')
    .argument('<sgid>', "the gateway's number", idNumber)
    .description(
      paragraphs(
        'Removes a gateway in the service, so that it takes no more payments for the business.',
        "Only the service's own interface can enable it again.",
      ),
    )
    .option('--yes', 'do not ask for confirmation')
    .option(...dryRun)
    .addHelpText('after', examples(['vendor-mirror gateways remove 26 --yes']))
    .action(lazy(async () => (await import('./gateways-remove.ts')).gatewaysRemove));
}
