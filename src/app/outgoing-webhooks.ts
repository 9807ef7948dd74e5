/** What sends the mirror's changes to the targets of the settings while the daemon lives. */
import type { Metrics } from '../admin/metrics/metrics.ts';
import type { Clock, Random } from '../domain/clock.ts';
import type { Service } from '../domain/lifecycle.ts';
import type { Log } from '../domain/log.ts';
import { createPoster, type Post } from '../http/outgoing/post.ts';
import { createNotifier } from '../notify/notifier.ts';
import type { Installation } from './installation.ts';

export interface OutgoingWebhooksOptions {
  readonly installation: Installation;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Sends them; over the network by default. */
  readonly post?: Post;
}

export function outgoingWebhooks(options: OutgoingWebhooksOptions): Service {
  const { installation, metrics, clock, random, log } = options;
  const { settings, mirror, secrets } = installation;
  const poster = createPoster();
  const { outbox } = mirror;
  const notifier = createNotifier({
    ...{ settings, outbox, places: secrets.notified, clock, random, log },
    post: options.post ?? poster.post,
    observe: (target, outcome) => metrics.notified(target, outcome),
  });
  return {
    name: notifier.name,
    start: () => notifier.start(),
    async stop() {
      await notifier.stop();
      poster.close();
    },
  };
}
