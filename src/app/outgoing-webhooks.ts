/** Sends the mirror's changes to the targets of the settings while the daemon runs. */
import type { Metrics } from '../admin/metrics/metrics.ts';
import type { Clock, Random } from '../domain/clock.ts';
import type { Service } from '../domain/lifecycle.ts';
import type { Log } from '../domain/log.ts';
import { Poster, type Post } from '../http/outgoing/post.ts';
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

export class OutgoingWebhooks implements Service {
  readonly name: string;
  readonly #poster = new Poster();
  readonly #notifier: ReturnType<typeof createNotifier>;

  constructor({ installation, metrics, clock, random, log, post }: OutgoingWebhooksOptions) {
    const { settings, mirror, secrets } = installation;
    const { outbox } = mirror;
    this.#notifier = createNotifier({
      ...{ settings, outbox, positions: secrets.notified, clock, random, log },
      post: post ?? this.#poster.post,
      observe: (target, outcome) => metrics.notified(target, outcome),
    });
    this.name = this.#notifier.name;
  }

  start(): Promise<void> {
    return this.#notifier.start();
  }

  async stop(): Promise<void> {
    await this.#notifier.stop();
    this.#poster.close();
  }
}
