/** The commands about the program itself. */
import { Argument, type Command } from 'commander';
import type { LazyAction } from '../process/command.ts';
import { examples, paragraphs } from '../terminal/help-text.ts';
import { shells } from './shells.ts';

export function declareCompletion(program: Command, lazy: LazyAction): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .summary('print a script that lets a shell complete these commands')
    .description(
      paragraphs(
        'Prints a script that lets a shell complete commands, options and their values.',
        'Load it when the shell starts; then it is up to date after each update of vendor-mirror.',
      ),
    )
    .addHelpText(
      'after',
      examples(
        ['source <(vendor-mirror completion bash)', 'in ~/.bashrc'],
        ['source <(vendor-mirror completion zsh)', 'in ~/.zshrc, after compinit'],
        ['vendor-mirror completion fish | source', 'in ~/.config/fish/config.fish'],
      ),
    )
    .action(lazy(async () => (await import('./completion.ts')).completionOf(program)));
  program
    .command('version')
    .summary('print the version')
    .description('Prints the version, as --version does; with --json also the version of Node.js and the platform.')
    .action(lazy(async () => (await import('./version.ts')).version));
}
