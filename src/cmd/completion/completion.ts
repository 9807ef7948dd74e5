/** `completion SHELL`: prints the script with which a shell completes the commands. */
import type { Command } from 'commander';
import { exitStatus } from '../../domain/errors.ts';
import type { CommandHandler } from '../process/command.ts';
import { bashScript } from './bash-script.ts';
import { commandTree, type CommandWords } from './command-tree.ts';
import { fishScript } from './fish-script.ts';
import type { Shell } from './shells.ts';
import { zshScript } from './zsh-script.ts';

const scripts: Readonly<Record<Shell, (tree: readonly CommandWords[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** The command that prints the script for the commands of `program`. */
export function completionOf(program: Command): CommandHandler {
  return ({ context, args }) => {
    context.stdout.write(scripts[args[0] as Shell](commandTree(program)));
    return Promise.resolve(exitStatus.done);
  };
}
