/** The commands about deliveries, the journal of what the webhooks brought. */
import { Option, type Command } from 'commander';
import type { LazyAction } from '../process/command.ts';
import { examples, paragraphs } from '../terminal/help-text.ts';
import { idNumber, wholeFrom } from '../options/option-values.ts';

/** The journal may be long. */
const usualLimit = 100;

export function declareDeliveries(program: Command, lazy: LazyAction): void {
  const deliveries = program
    .command('deliveries')
    .summary('list received webhooks, retry vendors that were given up')
    .description('The journal of received webhooks, and the result of each.');
  deliveries
    .command('list')
    .summary('list received webhooks')
    .description('Lists deliveries, newest first.')
    .addOption(
      new Option('--outcome <outcome>', 'only deliveries with this outcome').choices([
        'pending',
        'applied',
        'unchanged',
        'not_found',
        'ignored',
        'parked',
      ]),
    )
    .option('--vendor <vendorid>', 'only deliveries about this vendor', idNumber)
    .option('--since <moment>', 'only deliveries since then: 30m, 12h, 7d, or a time in UTC')
    .option('--limit <n>', 'at most this many', wholeFrom(1), usualLimit)
    .addHelpText(
      'after',
      examples(
        ['vendor-mirror deliveries list --outcome parked'],
        ['vendor-mirror deliveries list --since "2026-11-20 09:00:00" --json'],
      ),
    )
    .action(lazy(async () => (await import('./deliveries-list.ts')).deliveriesList));
  deliveries
    .command('retry')
    .summary('try vendors again that were given up')
    .description(
      paragraphs(
        'Tries vendors again whose reading was given up (parked).',
        'A running daemon reads them soon; otherwise the next sweep does.',
      ),
    )
    .option('--vendor <vendorid>', 'only this vendor', idNumber)
    .action(lazy(async () => (await import('./deliveries-retry.ts')).deliveriesRetry));
}
