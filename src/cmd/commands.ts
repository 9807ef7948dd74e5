/** The commands, with their options and words. What a command needs is loaded only when it runs. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import type { Run } from './command.ts';
import { addCommonOptions } from './common-options.ts';
import type { Edge } from './edge.ts';
import { examples, paragraphs } from './help-text.ts';
import { sandboxCommand } from './sandbox.ts';

/** Makes the action of a command from the function that loads it. */
type Does = <Options extends object>(load: () => Promise<Run<Options>>) => (...given: unknown[]) => Promise<void>;

export function declareCommands(program: Command, edge: Edge, does: Does): void {
  declareServe(program, does);
  declareSync(program, does);
  declareStatus(program, does);
  declareVendors(program, does);
  declareGateways(program, does);
  declareChanges(program, does);
  declareExport(program, does);
  for (const command of leaves(program)) addCommonOptions(command);
  program.addCommand(sandboxCommand(edge).copyInheritedSettings(program));
}

/** The commands that do something themselves. */
function leaves(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
}

function declareServe(program: Command, does: Does): void {
  program
    .command('serve')
    .summary('the daemon: webhooks, queue, schedules, health')
    .description(
      paragraphs(
        'Keeps the mirror fresh until it is stopped: takes webhooks, reads what they announce, and sweeps on its schedules.',
        'SIGTERM or Ctrl-C stops it; a second one at once. Only one runs on a database.',
      ),
    )
    .option('--unregister', 'delete the callbacks that this installation registered, and end')
    .addHelpText('after', examples(['vendor-mirror serve -c mirror.yaml']))
    .action(does(async () => (await import('./serve.ts')).serve));
}

function declareSync(program: Command, does: Does): void {
  program
    .command('sync')
    .summary('mirror all vendors and gateways, once')
    .description(
      paragraphs(
        'Mirrors all vendors and gateways of the service, once.',
        'Exits with 0 if every account was mirrored completely, with 1 if not. Interrupted, it keeps what it has read.',
      ),
    )
    .addHelpText(
      'after',
      examples(['vendor-mirror sync -c mirror.yaml'], ['vendor-mirror sync --account 6BApk --json']),
    )
    .action(does(async () => (await import('./sync.ts')).sync));
}

function declareStatus(program: Command, does: Does): void {
  program
    .command('status')
    .summary('what the mirror holds, how fresh it is, and what to do')
    .description(
      paragraphs(
        'What the mirror holds of each account, how fresh it is, its latest runs, and what to do where something is amiss.',
        'Reads the mirror only, never the service.',
      ),
    )
    .action(does(async () => (await import('./status.ts')).status));
}

function declareVendors(program: Command, does: Does): void {
  const vendors = program
    .command('vendors')
    .summary('the vendors of the mirror: list, show')
    .description('The vendors of the mirror.');
  vendors
    .command('list')
    .description('Lists vendors of the mirror, by account and number. All of them, unless --limit says otherwise.')
    .addOption(
      new Option('--state <state>', 'vendors of this state; active unless told').choices([
        'active',
        'deleted',
        'archived',
        'all',
      ]),
    )
    .addOption(
      new Option('--presence <presence>', 'vendors whose presence is this, of whatever state').choices([
        'present',
        'suspect',
        'missing',
        'gone',
      ]),
    )
    .option('--search <text>', 'vendors with this in name, contact, e-mail, account number or city')
    .option('--limit <n>', 'no more than so many', wholeFrom(1))
    .addHelpText(
      'after',
      examples(
        ['vendor-mirror vendors list --search muller', 'finds Müller as well'],
        ['vendor-mirror vendors list --state deleted --json'],
      ),
    )
    .action(does(async () => (await import('./vendors-list.ts')).vendorsList));
  vendors
    .command('show')
    .argument('<vendorid>', "the vendor's number")
    .description('Shows every field of a vendor, its balances and tax defaults, and its history.')
    .addHelpText('after', examples(['vendor-mirror vendors show 1562']))
    .action(does(async () => (await import('./vendors-show.ts')).vendorsShow));
}

function declareGateways(program: Command, does: Does): void {
  const gateways = program
    .command('gateways')
    .summary('the payment gateways of the mirror: list')
    .description('The payment gateways of the mirror.');
  gateways
    .command('list')
    .description('Lists the gateways of the mirror, with those that were removed.')
    .action(does(async () => (await import('./gateways-list.ts')).gatewaysList));
}

function declareChanges(program: Command, does: Does): void {
  program
    .command('changes')
    .summary('the change feed')
    .description('Prints every change of every vendor, oldest first, one JSON object a line.')
    .option('--since <seq>', 'only what came after this one', wholeFrom(0), 0)
    .option('--limit <n>', 'no more than so many', wholeFrom(1))
    .option('--follow', 'wait for more until interrupted')
    .addHelpText('after', examples(['vendor-mirror changes --since 1042 --follow']))
    .action(does(async () => (await import('./changes.ts')).changes));
}

function declareExport(program: Command, does: Does): void {
  program
    .command('export')
    .argument('<file>', 'where to; a name that ends in .csv gives a spreadsheet of the vendors')
    .summary('a consistent copy of the mirror, or a .csv')
    .description(
      paragraphs(
        'Writes a consistent, self-contained copy of the mirror, or, where the name ends in .csv, the view vendor_overview for a spreadsheet.',
        'The file is swapped in when it is whole. In a .csv, a cell that begins with = + - @, tab or return gets a leading apostrophe, so that no spreadsheet takes it for a formula.',
      ),
    )
    .addHelpText(
      'after',
      examples(['vendor-mirror export /srv/reports/vendors.db'], ['vendor-mirror export vendors.csv']),
    )
    .action(does(async () => (await import('./export.ts')).exportTo));
}

function wholeFrom(least: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && Number.isSafeInteger(number) && number >= least) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${least}.`);
  };
}
