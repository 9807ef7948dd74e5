/** The command that makes the mirror forget. */
import { Option, type Command } from 'commander';
import type { LazyAction } from '../process/command.ts';
import { wholeFrom } from '../options/option-values.ts';
import { examples, paragraphs } from '../terminal/help-text.ts';

export function declareForget(program: Command, lazy: LazyAction): void {
  program
    .command('forget')
    .summary('remove fields or a vendor from the mirror and its history')
    .description(
      paragraphs(
        'Removes fields (--field), which vendors.exclude must name, or one vendor (--vendor) from the mirror and its history, and overwrites the pages of the file. The daemon must be stopped.',
        'A forgotten vendor stays away until --undo, even if the service still lists it. The service itself is not changed.',
        'Earlier copies keep everything: exports, files of `publish`, backups, and what was sent to receivers of webhooks.',
      ),
    )
    .option('--field <name...>', 'fields that vendors.exclude names; in all accounts, or in --account')
    .addOption(
      new Option('--vendor <id>', "a vendor's number, in --account").argParser(wholeFrom(1)).conflicts('field'),
    )
    .addOption(new Option('--undo', 'let the vendor be mirrored again').conflicts('field'))
    .option('--yes', 'do not ask for confirmation')
    .addHelpText(
      'after',
      examples(['vendor-mirror forget --field phone note'], ['vendor-mirror forget --vendor 1042 --account 6BApk']),
    )
    .action(lazy(async () => (await import('./forget.ts')).forget));
}
