/** The command that makes the mirror forget. */
import { Option, type Command } from 'commander';
import type { Does } from '../process/command.ts';
import { wholeFrom } from '../options/option-values.ts';
import { examples, paragraphs } from '../terminal/help-text.ts';

export function declareForget(program: Command, does: Does): void {
  program
    .command('forget')
    .summary('take fields or a vendor out of the mirror and its history')
    .description(
      paragraphs(
        'Takes fields (--field), which vendors.exclude must name, or one vendor (--vendor) out of everything that the mirror holds, and overwrites the pages of the file. The daemon must be stopped.',
        'A vendor that is forgotten stays so, though the service still lists it, until --undo. The service itself is not told.',
        'Copies that were made before keep everything: exports, files of `publish`, backups, what receivers of webhooks were sent.',
      ),
    )
    .option('--field <name...>', 'fields that vendors.exclude names; of all accounts, or of --account')
    .addOption(new Option('--vendor <id>', 'a vendor, of --account').argParser(wholeFrom(1)).conflicts('field'))
    .addOption(new Option('--undo', 'let the vendor be mirrored again').conflicts('field'))
    .option('--yes', 'do not ask for confirmation')
    .addHelpText(
      'after',
      examples(['vendor-mirror forget --field phone note'], ['vendor-mirror forget --vendor 1042 --account 6BApk']),
    )
    .action(does(async () => (await import('./forget.ts')).forget));
}
