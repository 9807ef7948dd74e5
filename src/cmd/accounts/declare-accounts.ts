/** The commands about which accounts are mirrored. */
import type { Command } from 'commander';
import type { Does } from '../process/command.ts';
import { examples, paragraphs } from '../terminal/help-text.ts';

export function declareAccounts(program: Command, does: Does): void {
  const accounts = program
    .command('accounts')
    .summary('which accounts are mirrored: list, add, remove')
    .description(
      'The accounts that are mirrored: those of the settings, and those that were added by command, which are kept in the mirror.',
    );
  accounts
    .command('list')
    .description('Lists the accounts, where each comes from, and what the mirror holds of it.')
    .action(does(async () => (await import('./accounts-list.ts')).accountsList));
  accounts
    .command('add')
    .argument('<id>', 'the account, as it stands in the addresses of the service')
    .summary('mirrors an account beside those of the settings')
    .description(
      paragraphs(
        'Adds an account to those of the settings. Accounts that the settings name are refused here.',
        'Commands know it at once. A running daemon serves it from its next start on.',
      ),
    )
    .option(
      '--connection <name>',
      'which of `connections` in the settings gives access to it; service.auth unless told',
    )
    .addHelpText(
      'after',
      examples(['vendor-mirror accounts add 7CBql'], ['vendor-mirror accounts add 7CBql --connection berlin']),
    )
    .action(does(async () => (await import('./accounts-change.ts')).accountsAdd));
  accounts
    .command('remove')
    .argument('<id>', 'an account that was added')
    .summary('mirrors an account no more that was added')
    .description(
      paragraphs(
        'Takes out an account that was added. Accounts that the settings name are refused here.',
        'What the mirror holds of it stays, and so does its callback at the service; the command says how to delete it. A running daemon serves the account until it is started again.',
      ),
    )
    .addHelpText('after', examples(['vendor-mirror accounts remove 7CBql']))
    .action(does(async () => (await import('./accounts-change.ts')).accountsRemove));
}
