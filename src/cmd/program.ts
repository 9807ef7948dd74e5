/** The command line as a whole: what is said on it, and what becomes of errors. */
import { Command, CommanderError } from 'commander';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asMirrorError, exitStatus, MirrorError, type ExitStatus } from '../domain/errors.ts';
import type { CommonOptions, Run } from './process/command.ts';
import { addCommonOptions, helpOption } from './options/common-options.ts';
import { declareCommands } from './commands.ts';
import type { Edge } from './process/process-context.ts';
import { examples } from './terminal/help-text.ts';
import { settingsOption } from './process/settings-option.ts';
import { complain, errorReport, printJson, remark } from './terminal/print.ts';

/** Runs one command line (without the names of node and the script) to its end. What fails is printed, never thrown. */
export async function runProgram(argv: readonly string[], edge: Edge): Promise<ExitStatus> {
  let status: ExitStatus = exitStatus.done;
  let around = edge;
  const program = rootCommand(edge);
  declareCommands(program, edge, <Options extends object>(load: () => Promise<Run<Options>>) => {
    return async (...given: unknown[]) => {
      const command = given.at(-1) as Command;
      const options = command.optsWithGlobals<CommonOptions & Options>();
      around = inheriting(edge, { settingsOption: settingsOption(options) });
      const run = await load();
      status = await run({ edge: around, options, args: command.args });
    };
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return status;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return exitStatus.done;
    if (error instanceof CommanderError && error.code === 'commander.help') return exitStatus.usage;
    return report(error instanceof CommanderError ? usageError(error) : error, argv.includes('--json'), around);
  }
}

/** The edge with something more in it; what nobody looks at stays unopened. */
function inheriting(edge: Edge, more: Partial<Edge>): Edge {
  return Object.assign(Object.create(edge) as Edge, more);
}

function rootCommand(edge: Edge): Command {
  return addCommonOptions(new Command('vendor-mirror'))
    .description("Keeps a true, fresh copy of an accounting service's bill vendors in one SQLite file.")
    .version(packageVersion(edge.packageRoot), '--version', 'print the version')
    .addHelpOption(helpOption())
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => edge.stdout.write(text),
      writeErr: (text) => edge.stderr.write(text),
      outputError: () => undefined,
      getOutHelpWidth: () => edge.stdout.columns ?? 100,
      getErrHelpWidth: () => edge.stderr.columns ?? 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .exitOverride()
    .addHelpText(
      'after',
      examples(
        ['vendor-mirror sync --sandbox', 'try it: mirror a built-in sandbox'],
        ['vendor-mirror sync -c mirror.yaml', 'mirror the accounts of your settings'],
        ['vendor-mirror status -c mirror.yaml', 'what the mirror holds, and how fresh it is'],
        ['sqlite3 data/sandbox.db "select * from active_vendors"', 'the file is the product'],
      ),
    );
}

function packageVersion(packageRoot: string): string {
  const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string };
  return version;
}

function usageError({ message }: CommanderError): MirrorError {
  const plain = message.replace(/^error: /, '').replace(/\n/g, ' ');
  return new MirrorError('usage', `${plain.charAt(0).toUpperCase()}${plain.slice(1)}.`);
}

/** Prints what went wrong; with `--json`, also as a document. */
function report(thrown: unknown, json: boolean, edge: Edge): ExitStatus {
  const error = asMirrorError(thrown);
  if (error.code === 'bug' && thrown instanceof Error && thrown.stack) remark(edge, thrown.stack);
  complain(edge, error);
  if (json) printJson(edge, { ok: false, error: errorReport(edge, error) });
  return error.exit;
}
