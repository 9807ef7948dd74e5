/** Parses the command line, runs the command, and prints errors. */
import { CommanderError, type Command } from 'commander';
import { asMirrorError, exitStatus, MirrorError, type ExitStatus } from '../domain/errors.ts';
import { type CommonOptions, type CommandHandler, settingsOption } from './process/command.ts';
import {
  addCommonOptions,
  helpOption,
  ProgramCommand,
  refuseIgnored,
  usualHelpWidth,
  type RunCommand,
} from './options.ts';
import { declareCommands } from './commands.ts';
import { packageVersion } from './version.ts';
import { type ProcessContext, columnsOf, withNodeOptions } from './process/process-context.ts';
import { printError, errorReport, printJson, printNotice } from './terminal/print.ts';

/** Runs one command line (without the names of node and the script) to its end. What fails is printed, never thrown. */
export async function runProgram(argv: readonly string[], context: ProcessContext): Promise<ExitStatus> {
  let status: ExitStatus = exitStatus.done;
  let commandContext = context;
  const run: RunCommand = async <Options extends object>(
    command: Command,
    load: () => Promise<CommandHandler<Options>>,
  ) => {
    const options = command.optsWithGlobals<CommonOptions & Options>();
    commandContext = inheriting(context, { settingsOption: settingsOption(options), inEveryDocument: {} });
    refuseIgnored(command, options as CommonOptions as Record<string, unknown>);
    const handler = await load();
    status = await handler({ context: commandContext, options, args: command.args });
  };
  const program = rootCommand(context, run);
  declareCommands(program, context);
  try {
    await program.parseAsync(argv, { from: 'user' });
    return status;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return exitStatus.done;
    if (error instanceof CommanderError && error.code === 'commander.help') return exitStatus.usage;
    return report(error instanceof CommanderError ? usageError(error) : error, argv.includes('--json'), commandContext);
  }
}

/** A context with more properties. Lazy properties of the first stay lazy. */
function inheriting(context: ProcessContext, more: Partial<ProcessContext>): ProcessContext {
  return Object.assign(Object.create(context) as ProcessContext, more);
}

function rootCommand(context: ProcessContext, run: RunCommand): ProgramCommand {
  return addCommonOptions(new ProgramCommand('vendor-mirror', run))
    .description("Keeps a true, fresh copy of an accounting service's bill vendors in one SQLite file.")
    .version(packageVersion(context.packageRoot), '-V, --version', 'print the version')
    .addHelpOption(helpOption())
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
      outputError: () => undefined,
      getOutHelpWidth: () => columnsOf(context.stdout, usualHelpWidth),
      getErrHelpWidth: () => columnsOf(context.stderr, usualHelpWidth),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .exitOverride()
    .examples(
      ['vendor-mirror sync --sandbox', 'try it: mirror the built-in sandbox'],
      ['vendor-mirror sync -c mirror.yaml', 'mirror the accounts of your settings'],
      ['vendor-mirror status -c mirror.yaml', 'what it holds and how fresh it is'],
      ['sqlite3 data/sandbox.db "select * from active_vendors"', 'query the mirror with any SQLite reader'],
    );
}

function usageError({ message }: CommanderError): MirrorError {
  const plain = message
    .replace(/^error: (command-argument value)?/, (_, value) => (value ? 'the value' : ''))
    .replace(/\n/g, ' ')
    .replace(/\.$/, '');
  return new MirrorError('usage', `${plain.charAt(0).toUpperCase()}${plain.slice(1)}.`);
}

/** Prints what went wrong; with `--json`, also as a document. */
function report(thrown: unknown, json: boolean, context: ProcessContext): ExitStatus {
  const found = asMirrorError(thrown);
  const isBug = found.code === 'bug';
  const error = isBug ? withNodeOptions(found, context) : found;
  if (isBug && thrown instanceof Error && thrown.stack) printNotice(context, thrown.stack);
  printError(context, error);
  if (json) printJson(context, { ok: false, error: errorReport(context, error) });
  return error.exit;
}
