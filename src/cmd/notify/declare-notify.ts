/** The commands about outgoing webhooks. */
import type { Command } from 'commander';
import type { Does } from '../process/command.ts';
import { examples, paragraphs } from '../terminal/help-text.ts';

export function declareNotify(program: Command, does: Does): void {
  const notify = program
    .command('notify')
    .summary('outgoing webhooks: list, retry, forget')
    .description('The targets of outgoing webhooks, and what was not delivered.');
  notify
    .command('list')
    .description('Lists the targets, how far each is, and the vendors whose changes were given up.')
    .action(does(async () => (await import('./notify-list.ts')).notifyList));
  notify
    .command('retry')
    .argument('[target]', 'only this one')
    .description(
      paragraphs(
        'Sends again what was given up (parked), and makes targets work again whose receiver answered 410.',
        'A running daemon sends it soon.',
      ),
    )
    .addHelpText('after', examples(['vendor-mirror notify retry'], ['vendor-mirror notify retry hooks.example.com']))
    .action(does(async () => (await import('./notify-retry.ts')).notifyRetry));
  notify
    .command('forget')
    .argument('<target>', 'one that the settings do not name any more')
    .description(
      'Forgets a target and what waits for it. If it is named again, it begins at the end of the change feed.',
    )
    .action(does(async () => (await import('./notify-forget.ts')).notifyForget));
}
