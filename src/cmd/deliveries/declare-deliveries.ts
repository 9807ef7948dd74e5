/** The commands about deliveries, the journal of what the webhooks brought. */
import { Option, type Command } from 'commander';
import type { Does } from '../process/command.ts';
import { examples, paragraphs } from '../terminal/help-text.ts';
import { idNumber, wholeFrom } from '../options/option-values.ts';

/** The journal may be long. */
const usualLimit = 100;

export function declareDeliveries(program: Command, does: Does): void {
  const deliveries = program
    .command('deliveries')
    .summary('the journal of webhooks: list, retry')
    .description('What the webhooks brought, and what became of it.');
  deliveries
    .command('list')
    .description('Lists deliveries, the newest first.')
    .addOption(
      new Option('--outcome <outcome>', 'those that ended so').choices([
        'pending',
        'applied',
        'unchanged',
        'not_found',
        'ignored',
        'parked',
      ]),
    )
    .option('--vendor <vendorid>', 'those about this vendor', idNumber)
    .option('--since <moment>', 'those that came later: 30m, 12h, 7d, or a moment in UTC')
    .option('--limit <n>', 'no more than so many', wholeFrom(1), usualLimit)
    .addHelpText(
      'after',
      examples(
        ['vendor-mirror deliveries list --outcome parked'],
        ['vendor-mirror deliveries list --since "2026-11-20 09:00:00" --json'],
      ),
    )
    .action(does(async () => (await import('./deliveries-list.ts')).deliveriesList));
  deliveries
    .command('retry')
    .description(
      paragraphs(
        'Marks vendors again whose reading was given up (parked).',
        'A running daemon reads them soon; without one, the next sweep does.',
      ),
    )
    .option('--vendor <vendorid>', 'only this vendor', idNumber)
    .action(does(async () => (await import('./deliveries-retry.ts')).deliveriesRetry));
}
