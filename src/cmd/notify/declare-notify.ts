/** The commands about outgoing webhooks. */
import type { Command } from 'commander';
import type { LazyAction } from '../process/command.ts';
import { examples, paragraphs } from '../terminal/help-text.ts';

export function declareNotify(program: Command, lazy: LazyAction): void {
  const notify = program
    .command('notify')
    .summary('list, retry, forget targets of outgoing webhooks')
    .description('The targets of outgoing webhooks, and what was not delivered to them.');
  notify
    .command('list')
    .summary('list the targets and what was given up')
    .description('Lists the targets, how far behind each is, and the vendors whose changes were given up.')
    .action(lazy(async () => (await import('./notify-list.ts')).notifyList));
  notify
    .command('retry')
    .summary('send again what was given up')
    .argument('[target]', 'only this target')
    .description(
      paragraphs(
        'Sends again what was given up (parked), and enables targets again whose receiver answered 410.',
        'A running daemon sends it soon.',
      ),
    )
    .addHelpText('after', examples(['vendor-mirror notify retry'], ['vendor-mirror notify retry hooks.example.com']))
    .action(lazy(async () => (await import('./notify-retry.ts')).notifyRetry));
  notify
    .command('forget')
    .summary('delete a target and what waits for it')
    .argument('<target>', 'a target that the settings no longer name')
    .description(
      'Deletes a target and what waits for it. If it is named again, it starts at the end of the change feed.',
    )
    .action(lazy(async () => (await import('./notify-forget.ts')).notifyForget));
}
