/** The commands about the program itself. */
import { Argument, type Command } from 'commander';
import type { Does } from '../process/command.ts';
import { examples, paragraphs } from '../terminal/help-text.ts';
import { shells } from './shells.ts';

export function declareCompletion(program: Command, does: Does): void {
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
    .action(does(async () => (await import('./completion.ts')).completionOf(program)));
  program
    .command('version')
    .summary('print the version')
    .description('Prints the version, as --version does; with --json also the version of Node.js and the platform.')
    .action(does(async () => (await import('./version.ts')).version));
}
