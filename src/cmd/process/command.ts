/**
 * What every command is: one asynchronous function of its call, that answers with an exit status; and commands that a message names.
 */
import { withOption } from '../../domain/commands.ts';
import { exitStatus, type ExitStatus } from '../../domain/errors.ts';
import type { LogLevel } from '../../domain/log.ts';
import type { ProcessContext } from './process-context.ts';

export interface CommonOptions {
  /** The settings file. */
  readonly config?: string;
  /** Use the built-in sandbox instead of the service, whatever the settings are. */
  readonly sandbox?: boolean;
  /** Restricts the command to one of the settings' accounts. */
  readonly account?: string;
  readonly json?: boolean;
  readonly logLevel?: LogLevel;
}

export interface Call<Options extends object = object> {
  readonly context: ProcessContext;
  readonly options: CommonOptions & Options;
  /** What stands on the command line beside the options. */
  readonly args: readonly string[];
}

/**
 * Does the work of a command.
 * @throws MirrorError for whatever keeps it from answering; the program prints it and exits with its status.
 */
export type CommandHandler<Options extends object = object> = (call: Call<Options>) => Promise<ExitStatus>;

/** The option with which another command finds the same settings; empty if it finds them without one. */
export function settingsOption({ config, sandbox }: CommonOptions): string {
  if (config !== undefined) return `-c ${shellWord(config)}`;
  return sandbox ? '--sandbox' : '';
}

/** The text, with that option in each command that it names: pasted as they stand, they meet the same mirror. */
export function withSettings({ settingsOption: option }: Pick<ProcessContext, 'settingsOption'>, text: string): string {
  return withOption(option ?? '', text);
}

/** A word as a shell takes it. */
export function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The highest of some statuses; `done` if there are none. */
export function highestExit(statuses: readonly ExitStatus[]): ExitStatus {
  return statuses.reduce((highest, status) => (status > highest ? status : highest), exitStatus.done);
}
