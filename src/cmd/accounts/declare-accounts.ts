/** The commands about which accounts are mirrored. */
import type { Command } from 'commander';
import type { Does } from '../process/command.ts';
import { examples, paragraphs } from '../terminal/help-text.ts';

export function declareAccounts(program: Command, does: Does): void {
  const accounts = program
    .command('accounts')
    .summary('list, add, remove mirrored accounts')
    .description(
      'The mirrored accounts: those of the settings, and those added by command, which are kept in the mirror.',
    );
  accounts
    .command('list')
    .summary('list the mirrored accounts')
    .description('Lists the accounts, where each is configured, and what the mirror holds of it.')
    .action(does(async () => (await import('./accounts-list.ts')).accountsList));
  accounts
    .command('add')
    .argument('<id>', 'the account id, as in addresses of the service')
    .summary('mirror an account beside those of the settings')
    .description(
      paragraphs(
        'Adds an account to those of the settings. An account that the settings name is refused.',
        'Commands know it at once. A running daemon serves it after its next start.',
      ),
    )
    .option('--connection <name>', 'which of `connections` in the settings gives access to it; default: service.auth')
    .addHelpText(
      'after',
      examples(['vendor-mirror accounts add 7CBql'], ['vendor-mirror accounts add 7CBql --connection berlin']),
    )
    .action(does(async () => (await import('./accounts-change.ts')).accountsAdd));
  accounts
    .command('remove')
    .argument('<id>', 'an account that was added by command')
    .summary('stop mirroring an account that was added')
    .description(
      paragraphs(
        'Removes an account that was added. An account that the settings name is refused.',
        'Its vendors stay in the mirror, and its callback stays in the service; the command says how to delete it. A running daemon serves the account until its next start.',
      ),
    )
    .addHelpText('after', examples(['vendor-mirror accounts remove 7CBql']))
    .action(does(async () => (await import('./accounts-change.ts')).accountsRemove));
}
