/** `npm run bench`: measures the rows that are asked for, one after the other, and prints what came out. */
import { Command, Option } from 'commander';
import { wholeFrom } from '../../src/cmd/options.ts';
import { bench, rows } from './bench.ts';
import { ownProcesses } from './jobs/host.ts';

interface Asked {
  readonly only: readonly string[];
  readonly json?: boolean;
  readonly vendors: number;
  readonly perPage: number;
  readonly samples: number;
  readonly deliveries: number;
  readonly accounts: number;
  readonly postgres?: string;
}

const {
  only,
  json = false,
  ...sizes
} = new Command('npm run bench --')
  .description('Measures what the program does against a baseline that does the same with nothing around it.')
  .addOption(new Option('--only <row...>', 'what to measure').choices(rows.map(({ name }) => name)).default([], 'all'))
  .option('--json', 'all samples')
  .option('--vendors <count>', 'in a pull', wholeFrom(1), 100_000)
  .option('--per-page <count>', 'rows on a page', wholeFrom(1), 100)
  .option('--samples <count>', 'of each side; 9 of status and help, 1 of memory', wholeFrom(1), 5)
  .option('--deliveries <count>', 'in a sample', wholeFrom(1), 20_000)
  .option('--accounts <count>', 'of which ten times as many are started', wholeFrom(1), 1_000)
  .option('--postgres <address>', 'a server, as one who may make databases: its rows are measured too')
  .parse()
  .opts<Asked>();

await bench({
  only,
  json,
  sizes: { host: ownProcesses, ...sizes },
  print: (text) => process.stdout.write(text),
  printNotice: (text) => process.stderr.write(text),
});
