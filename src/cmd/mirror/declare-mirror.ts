/** The commands that look at the mirror as a whole, or hand it on. */
import { Option, type Command } from 'commander';
import { exportFormats } from '../../settings/export-format.ts';
import type { Does } from '../process/command.ts';
import { examples, paragraphs } from '../terminal/help-text.ts';
import { feedCursor, wholeFrom } from '../options/option-values.ts';

export function declareStatus(program: Command, does: Does): void {
  program
    .command('status')
    .summary('what the mirror holds, how fresh it is, and what to do')
    .description(
      paragraphs(
        'What the mirror holds of each account, how fresh it is, its queue, its latest runs, and what to do where something is amiss.',
        'Reads the mirror only, never the service.',
      ),
    )
    .action(does(async () => (await import('./status.ts')).status));
  program
    .command('doctor')
    .summary('checks everything that must be right, and says what to do')
    .description(
      paragraphs(
        'Checks settings, files, disk, clock, token, access, paging, reads by number, callbacks and the public address, and says what to do about each.',
        'Writes nothing to the service. Exits with the status of the worst problem; warnings are none.',
        'A mirror belongs to the service that it was filled from. Where that has moved to another address, --accept-service compares a sample of its vendors with the mirror, and takes it for the same after a confirmation.',
      ),
    )
    .option('--accept-service', 'let the mirror belong to the service of the settings, after a comparison')
    .option('--yes', 'do not ask for confirmation; a service whose vendors are others is refused')
    .action(does(async () => (await import('../doctor/doctor.ts')).doctor));
}

export function declareFeeds(program: Command, does: Does): void {
  declareChanges(program, does);
  declareExport(program, does);
}

function declareChanges(program: Command, does: Does): void {
  program
    .command('changes')
    .summary('the change feed')
    .description(
      paragraphs(
        'Prints every change of every vendor, oldest first, one JSON object a line, with the old and new value of each field.',
        'Each has a cursor, from which --since goes on. A cursor of a mirror that was made anew or put back from a copy, or from before what was removed, is refused, and told where to begin.',
      ),
    )
    .option('--since <cursor>', 'only what came after this cursor, or after this seq', feedCursor)
    .option('--limit <n>', 'no more than so many', wholeFrom(1))
    .option('--follow', 'wait for more until interrupted')
    .addHelpText('after', examples(['vendor-mirror changes --since 1042 --follow']))
    .action(does(async () => (await import('./changes.ts')).changes));
}

function declareExport(program: Command, does: Does): void {
  program
    .command('export')
    .argument('<file>', 'where to: a .db, .csv, .json or .ndjson; - is standard output')
    .summary('a consistent copy of the mirror, or rows of it as .csv, .json or .ndjson')
    .description(
      paragraphs(
        'Writes a consistent, self-contained copy of the mirror (.db), or rows of it: of the view vendor_overview, unless --view or --query says of what. A file is swapped in when it is whole.',
        'A .csv is in UTF-8 with a byte order mark. A text in it that a spreadsheet would take for a formula, also behind spaces and line breaks, gets a leading apostrophe; plain telephone numbers do not.',
        'A query is one SELECT. Its rows are written while they are read, whatever their number; run long ones on a copy.',
      ),
    )
    .option('--view <name>', 'the rows of this view or table')
    .addOption(new Option('--query <sql>', 'the rows of this query').conflicts('view'))
    .addOption(
      new Option('--format <format>', "the file's form; its ending, or csv on standard output").choices(exportFormats),
    )
    .addHelpText(
      'after',
      examples(
        ['vendor-mirror export /srv/reports/vendors.db'],
        ['vendor-mirror export owed.csv --view payables'],
        ['vendor-mirror export - --format ndjson --query "select * from active_vendors" | head'],
      ),
    )
    .action(does(async () => (await import('./export-command.ts')).exportTo));
}
