/** The command that moves an installation. */
import type { Command } from 'commander';
import type { LazyAction } from '../process/command.ts';
import { examples, paragraphs } from '../terminal/help-text.ts';

export function declareMove(program: Command, lazy: LazyAction): void {
  program
    .command('move')
    .argument('<dir>', 'the folder; it is created if it does not exist')
    .summary('move mirror and secrets to another folder')
    .description(
      paragraphs(
        'Copies the mirror, the secrets and what belongs to them to another folder, reads the copies back, and removes the old files. The daemon must be stopped.',
        'The settings are not changed: the command prints what to change in them. It can be interrupted at any moment and run again.',
      ),
    )
    .addHelpText('after', examples(['vendor-mirror move /srv/vendor-mirror']))
    .action(lazy(async () => (await import('./move-command.ts')).move));
}
