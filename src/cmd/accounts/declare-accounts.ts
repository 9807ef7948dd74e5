/** The commands about which accounts are mirrored. */
import type { Command } from 'commander';
import type { LazyAction } from '../process/command.ts';
import { examples, paragraphs } from '../terminal/help-text.ts';

export function declareAccounts(program: Command, lazy: LazyAction): void {
  const accounts = program
    .command('accounts')
    .summary('list, add, remove, pause, resume accounts')
    .description(
      paragraphs(
        'The mirrored accounts: those of the settings, and those added by command, which are kept in the mirror.',
        'A running daemon takes each change within a second.',
      ),
    );
  accounts
    .command('list')
    .summary('list the mirrored accounts')
    .description('Lists the accounts, where each is configured, and what the mirror holds of it.')
    .action(lazy(async () => (await import('./accounts-list.ts')).accountsList));
  accounts
    .command('add')
    .argument('<id>', 'the account id, as in addresses of the service')
    .summary('mirror an account beside those of the settings')
    .description(
      paragraphs(
        'Adds an account to those of the settings. An account that the settings name is refused.',
        'Commands know it at once. A running daemon registers its callback and sweeps it.',
      ),
    )
    .option('--connection <name>', 'which of `connections` in the settings gives access to it; default: service.auth')
    .addHelpText(
      'after',
      examples(['vendor-mirror accounts add 7CBql'], ['vendor-mirror accounts add 7CBql --connection berlin']),
    )
    .action(lazy(async () => (await import('./accounts-change.ts')).accountsAdd));
  accounts
    .command('remove')
    .argument('<id>', 'an account that was added by command')
    .summary('stop mirroring an account that was added')
    .description(
      paragraphs(
        'Removes an account that was added. An account that the settings name is refused.',
        'Its vendors stay in the mirror. A running daemon deletes its callback at the service; if none runs, the command says how to delete it.',
      ),
    )
    .addHelpText('after', examples(['vendor-mirror accounts remove 7CBql']))
    .action(lazy(async () => (await import('./accounts-change.ts')).accountsRemove));
  accounts
    .command('pause')
    .argument('<id>', 'an account of the settings, or one that was added')
    .summary('stop reading an account for a while')
    .description(
      paragraphs(
        'Pauses an account, also one of the settings. Nothing is requested from the service about it. What the service delivers is stored and acknowledged, and read when the account is resumed.',
        '`status`, the dashboard, metrics and the view `freshness` show it as paused, not as stale. `sync`, `reconcile` and `verify` leave it out.',
      ),
    )
    .addHelpText('after', examples(['vendor-mirror accounts pause 7CBql']))
    .action(lazy(async () => (await import('./accounts-change.ts')).accountsPause));
  accounts
    .command('resume')
    .argument('<id>', 'an account that is paused')
    .summary('end the pause of an account')
    .description('Ends a pause. A running daemon reads at once what was delivered meanwhile, and sweeps the account.')
    .addHelpText('after', examples(['vendor-mirror accounts resume 7CBql']))
    .action(lazy(async () => (await import('./accounts-change.ts')).accountsResume));
}
