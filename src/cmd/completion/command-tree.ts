/** What a shell must know of the commands to complete a command line: read from the commands themselves. */
import type { Command, Option } from 'commander';

/** What may stand as a value: one of some words, the name of a file, or something that no shell can know. */
export type Value = readonly string[] | 'file' | 'other';

export interface Flag {
  /** Every way to write it: `-c`, `--config`. */
  readonly names: readonly string[];
  readonly meaning: string;
  /** What follows it; undefined for a switch. */
  readonly value?: Value;
}

export interface CommandWords {
  /** As it is typed after the program: `vendors list`; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly meaning: string }[];
  readonly flags: readonly Flag[];
  /** What its argument may be; undefined where it takes none. */
  readonly argument?: Value;
}

/** Every command with what may follow it, the program itself first. */
export function commandTree(program: Command): CommandWords[] {
  return wordsOf(program, '');
}

function wordsOf(command: Command, path: string): CommandWords[] {
  const [argument] = command.registeredArguments;
  const inner = command.commands.map((one) => ({ name: one.name(), meaning: meaningOf(one), command: one }));
  return [
    {
      path,
      commands: inner.map(({ name, meaning }) => ({ name, meaning })),
      flags: [...command.options.map(flagOf), help],
      ...(argument && { argument: valueOf(argument.name(), argument.argChoices) }),
    },
    ...inner.flatMap((one) => wordsOf(one.command, `${path} ${one.name}`.trim())),
  ];
}

const help: Flag = { names: ['-h', '--help'], meaning: 'print help' };

function meaningOf(command: Command): string {
  return oneLine(command.summary() || (command.description().split(/\.\s|\.$/)[0] ?? ''));
}

function flagOf(option: Option): Flag {
  return {
    names: [option.short, option.long].filter((name) => name !== undefined),
    meaning: oneLine(option.description),
    ...((option.required || option.optional) && {
      value: valueOf(/<.+>$/.exec(option.flags)?.[0] ?? '', option.argChoices),
    }),
  };
}

/** A value is the name of a file where its place is called one. */
function valueOf(place: string, choices: readonly string[] | undefined): Value {
  return choices ?? (/file|path/.test(place) ? 'file' : 'other');
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
