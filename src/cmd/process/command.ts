/** What every command is: one asynchronous function of its call, that answers with an exit status. */
import type { ExitStatus } from '../../domain/errors.ts';
import type { LogLevel } from '../../domain/log.ts';
import type { ProcessContext } from './process-context.ts';

/** The options that every command takes. */
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

/** Makes the action of a declared command from the function that loads it. */
export type LazyAction = <Options extends object>(
  load: () => Promise<CommandHandler<Options>>,
) => (...given: unknown[]) => Promise<void>;
