/**
 * The options that commands share, what values may be, and the parts of a help text.
 *
 * The exit code of a command over several accounts is the highest of theirs. `vendors list` shows active vendors unless told otherwise.
 */
import { Command, InvalidArgumentError, Option } from 'commander';
import { MirrorError } from '../domain/errors.ts';
import { eventsInstead } from '../domain/events.ts';
import type { LogLevel } from '../domain/log.ts';
import { isRole, type Role } from '../domain/processes.ts';
import { cursorForm, isCursor } from '../store/reports/feed-cursor.ts';
import type { CommandHandler } from './process/command.ts';
import { wrapped } from './terminal/text.ts';

const logLevels: readonly LogLevel[] = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

const group = 'Common options:';

/** Of commands that change something at the service. */
export const dryRun = ['--dry-run', 'show the request and send nothing'] as const;

export function helpOption(): Option {
  return new Option('-h, --help', 'print help').helpGroup(group);
}

export function addCommonOptions<C extends Command>(command: C): C {
  const options = [
    new Option(
      '-c, --config <file>',
      'settings file; default: $VENDOR_MIRROR_CONFIG, then /etc/vendor-mirror/mirror.yaml',
    ),
    new Option('--sandbox', 'use the built-in sandbox with its own files; this is the default without settings'),
    new Option('--account <id>', 'only this account'),
    new Option('--json', 'print one JSON document instead of text'),
    new Option('--log-level <level>', 'how much to log on standard error').choices(logLevels),
  ];
  for (const option of options) command.addOption(option.helpGroup(group));
  return command;
}

/**
 * Commands that are about no single account, or print no document: the option would do nothing, so it is refused. Which settings, and how much
 * to log, may be told to every command.
 */
const withoutOption: Readonly<Record<string, { readonly because: string; readonly commands: readonly string[] }>> = {
  account: {
    because: 'is about no single account',
    commands: [
      ...[
        'notify list',
        'notify retry',
        'notify forget',
        'copy',
        'secrets export',
        'secrets import',
        'logout',
        'accounts list',
      ],
      ...['completion', 'version'],
    ],
  },
  json: { because: 'prints no document', commands: ['completion'] },
};

/** @throws MirrorError `usage` for an option that the command would ignore. */
export function refuseIgnored(command: Command, options: Readonly<Record<string, unknown>>): void {
  const group = command.parent?.parent ? `${command.parent.name()} ` : '';
  const name = `${group}${command.name()}`;
  for (const [option, { because, commands }] of Object.entries(withoutOption))
    if (options[option] !== undefined && commands.includes(name))
      throw new MirrorError('usage', `${name} ${because}: leave --${option} out.`);
}

/** A whole number of at least `least`, and at most `most` if told. */
export function wholeFrom(least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  const range = most < Number.MAX_SAFE_INTEGER ? `from ${least} to ${most}` : `from ${least}`;
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be a whole number ${range}.`);
  };
}

/** Where the change feed goes on. */
export function feedCursor(text: string): string {
  if (isCursor(text)) return text;
  throw new InvalidArgumentError(`It must be ${cursorForm}. Without --since, all changes that are kept are printed.`);
}

/** A port to listen on; 0 means any free port. */
export function portNumber(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError('It must be a port from 0 to 65535.');
}

/** A number of times a second, and the like. */
export function nonNegative(text: string): number {
  if (/^\d{1,6}(\.\d+)?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a number from 0.');
}

/** What a daemon is for; may be repeated. */
export function rolesIn(text: string, earlier: readonly Role[] = []): readonly Role[] {
  const roles = text.split(',');
  if (roles.every(isRole)) return [...new Set([...earlier, ...roles])];
  throw new InvalidArgumentError('It must be listen, work or listen,work.');
}

/** A share of all. */
export function rate(text: string): number {
  if (isRate(text)) return Number(text);
  throw new InvalidArgumentError('It must be a rate from 0 to 1, such as 0.05.');
}

export function isRate(text: string): boolean {
  return /^(0(\.\d+)?|1(\.0+)?)$/.test(text);
}

export const idNumber = wholeFrom(1);

/** An event that the service lets anybody register for. */
export function eventName(text: string): string {
  const instead = eventsInstead(text);
  if (instead === undefined) return text;
  throw new InvalidArgumentError(`The service has no such event. Known events: ${instead}.`);
}

/**
 * An address that the service can send a POST to: absolute, http or https, nothing in it that would not arrive.
 * @throws MirrorError `usage` that does not repeat it: addresses hold secrets.
 */
export function webAddress(text: string): string {
  const url = /^https?:\/\/[\x21-\x7e]+$/i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  if (!url)
    throw new MirrorError(
      'usage',
      'The address must be complete, with https (or http), such as https://hooks.example.com/inbox.',
    );
  if (url.username || url.password || url.hash)
    throw new MirrorError('usage', 'The address must not have a user, a password or a fragment.');
  return text;
}

export function collected(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, value];
}

/** Runs a command that the command line names, with the function that `load` gets. */
export type RunCommand = <Options extends object>(
  command: Command,
  load: () => Promise<CommandHandler<Options>>,
) => Promise<void>;

export function helpWidth(command: Command): number {
  return command.configureOutput().getOutHelpWidth?.() ?? usualHelpWidth;
}

/** Where no terminal says how wide it is. */
export const usualHelpWidth = 100;

/** What a word of the command line means, beside it or, where that has no room, below it. */
export function helpItem(term: string, termWidth: number, meaning: string, width: number): string {
  const beside = termWidth + 4;
  const isBeside = width - beside >= leastBeside;
  const indent = ' '.repeat(isBeside ? beside : 6);
  const lines = meaning
    .split('\n')
    .flatMap((line) => wrapped(line, Math.max(1, width - indent.length), (text) => text.length))
    .join(`\n${indent}`);
  return (isBeside ? `  ${term.padEnd(termWidth)}  ${lines}` : `  ${term}\n${indent}${lines}`).trimEnd();
}

/** Columns that a meaning beside its word needs. */
const leastBeside = 24;

/** A command, and those below it, with help texts of one form. */
export class ProgramCommand extends Command {
  readonly #run: RunCommand;

  constructor(name: string, run: RunCommand) {
    super(name);
    this.#run = run;
    this.configureHelp({
      minWidthToWrap: leastBeside,
      formatItem: (term, termWidth, meaning) => helpItem(term, termWidth, meaning, helpWidth(this)),
    });
  }

  override createCommand(name = ''): ProgramCommand {
    return new ProgramCommand(name, this.#run);
  }

  about(...paragraphs: readonly string[]): this {
    return this.description(paragraphs.join('\n\n'));
  }

  /** The last part of the help text: command lines, each with what it does where that is not plain. */
  examples(...lines: readonly (readonly [line: string, meaning?: string])[]): this {
    const widest = Math.max(...lines.map(([line]) => line.length));
    return this.addHelpText('after', ({ command }) => {
      const beside = lines.map(([line, meaning]) => (meaning ? `  ${line.padEnd(widest)}  # ${meaning}` : `  ${line}`));
      const isBeside = beside.every((line) => line.length <= helpWidth(command));
      const above = lines.map(([line, meaning]) => `${meaning ? `  # ${meaning}\n` : ''}  ${line}`);
      return `\nExamples:\n${(isBeside ? beside : above).join('\n')}`;
    });
  }

  /** What it does; `load` is called when it runs. */
  runs<Options extends object>(load: () => Promise<CommandHandler<Options>>): this {
    return this.action((...given: unknown[]) => this.#run(given.at(-1) as Command, load));
  }
}

/** The shells that we know how to complete in. */
export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];
