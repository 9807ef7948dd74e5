/**
 * All outgoing webhooks: one sender for each target of the settings. No sender waits for another, and nothing else in the program waits for
 * them.
 */
import { stopAll, type Service } from '../domain/lifecycle.ts';
import type { Settings } from '../settings/parse.ts';
import { Feed, type FeedDependencies } from './feed.ts';
import { TargetSender, type TargetSenderOptions } from './target-sender.ts';

export interface NotifierOptions
  extends Omit<FeedDependencies, 'clock'>, Omit<TargetSenderOptions, 'target' | 'feed' | 'grace'> {
  readonly settings: Pick<Settings, 'notify' | 'shutdownTimeout'>;
}

/** The part of `shutdownTimeout` for which messages under way may go on. */
const shareOfShutdown = 1 / 4;

export function createNotifier(options: NotifierOptions): Service {
  const { notify, shutdownTimeout } = options.settings;
  const grace = shutdownTimeout * shareOfShutdown;
  const senders = notify.map(
    (target) => new TargetSender({ ...options, target, feed: new Feed(target.name, options), grace }),
  );
  return {
    name: 'outgoing webhooks',
    async start() {
      for (const sender of senders) await sender.start();
    },
    async stop() {
      const stops = await Promise.allSettled(senders.map((sender) => stopAll([sender])));
      for (const stop of stops) if (stop.status === 'rejected') throw stop.reason;
    },
  };
}
