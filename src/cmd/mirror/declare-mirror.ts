/** The commands about the mirror as a whole: status, doctor, changes, export. */
import { Option, type Command } from 'commander';
import { exportFormats } from '../../settings/export-format.ts';
import type { LazyAction } from '../process/command.ts';
import { examples, paragraphs } from '../terminal/help-text.ts';
import { feedCursor, wholeFrom } from '../options/option-values.ts';

export function declareStatus(program: Command, lazy: LazyAction): void {
  program
    .command('status')
    .summary('show what the mirror holds, how fresh it is, and what to do')
    .description(
      paragraphs(
        'Shows for each account what the mirror holds, how fresh it is, its queue and latest runs, and what to do if something is wrong.',
        'Reads only the mirror, never the service.',
      ),
    )
    .action(lazy(async () => (await import('./status.ts')).status));
  program
    .command('doctor')
    .summary('check settings, access, files and network, and say what to do')
    .description(
      paragraphs(
        'Checks settings, files, disk, clock, token, access, paging, reads by number, callbacks and the public address, and says what to do about each problem.',
        'Writes nothing to the service. Exits with the highest exit code of the problems found; a warning is not a problem.',
        'A mirror belongs to the service that it was filled from. If that service has moved to another address, --accept-service compares a sample of its vendors with the mirror and, after a confirmation, accepts the new address.',
      ),
    )
    .option('--accept-service', 'accept the service of the settings for this mirror, after a comparison')
    .option('--yes', 'do not ask for confirmation; a service with other vendors is refused')
    .action(lazy(async () => (await import('../doctor/doctor.ts')).doctor));
}

export function declareFeeds(program: Command, lazy: LazyAction): void {
  declareChanges(program, lazy);
  declareExport(program, lazy);
}

function declareChanges(program: Command, lazy: LazyAction): void {
  program
    .command('changes')
    .summary('print the change feed')
    .description(
      paragraphs(
        'Prints every change of every vendor, oldest first, one JSON object a line, with the old and new value of each field.',
        'Each change has a cursor, with which --since continues. A cursor from before the mirror was rebuilt or restored, or before pruned changes, is refused; the error says where to continue.',
      ),
    )
    .option('--since <cursor>', 'only changes after this cursor, or after this seq', feedCursor)
    .option('--limit <n>', 'at most this many', wholeFrom(1))
    .option('--follow', 'wait for more changes until interrupted')
    .addHelpText('after', examples(['vendor-mirror changes --since 1042 --follow']))
    .action(lazy(async () => (await import('./changes.ts')).changes));
}

function declareExport(program: Command, lazy: LazyAction): void {
  program
    .command('export')
    .argument('<file>', 'the file to write: .db, .csv, .json, .ndjson or .parquet; - is standard output')
    .summary('write a consistent copy of the mirror, or rows of it as .csv, .json, .ndjson or .parquet')
    .description(
      paragraphs(
        'Writes a consistent, self-contained copy of the mirror (.db), or rows of it: those of the view vendor_overview, unless --view or --query is given. The file appears only when it is complete.',
        'A .csv is in UTF-8 with a byte order mark. Text that a spreadsheet would take for a formula, also after spaces and line breaks, gets a leading apostrophe; plain telephone numbers do not.',
        'A .parquet keeps types: 64-bit integers, numbers, booleans, times without a zone, text. Text of the service in a time column that is not a time is left empty, and counted. A column that a query computes gets its type from its first values.',
        'A query is a single SELECT. Its rows are written while they are read, so their number does not matter. Run long queries on a copy.',
      ),
    )
    .option('--view <name>', 'the rows of this view or table')
    .addOption(new Option('--query <sql>', 'the rows of this query').conflicts('view'))
    .addOption(
      new Option('--format <format>', "the file's format; default: by its ending, csv on standard output").choices(
        exportFormats,
      ),
    )
    .addHelpText(
      'after',
      examples(
        ['vendor-mirror export /srv/reports/vendors.db'],
        ['vendor-mirror export owed.csv --view payables'],
        ['vendor-mirror export changes.parquet --view vendor_changes'],
        ['vendor-mirror export - --format ndjson --query "select * from active_vendors" | head'],
      ),
    )
    .action(lazy(async () => (await import('./export-command.ts')).exportTo));
}
