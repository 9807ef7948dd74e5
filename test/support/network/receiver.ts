/** A mirror, a virtual clock, and a receiver of its webhooks that does what a test tells it. */
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { expect, onTestFinished } from 'vitest';
import { silentLog } from '../../../src/domain/log.ts';
import { Secret } from '../../../src/domain/secret.ts';
import type { Post, PostRequest } from '../../../src/http/post.ts';
import { Feed, type FeedDependencies } from '../../../src/notify/feed.ts';
import { TargetSender } from '../../../src/notify/target-sender.ts';
import type { NotifyTarget } from '../../../src/settings/parse.ts';
import { openMirror, type Store } from '../../../src/store/mirror.ts';
import { ask, migrations, namedProcess, temporaryFolder } from '../mirror-file.ts';
import { account } from '../names.ts';
import { constantRandom } from '../random.ts';
import { row } from '../testbed/store.ts';
import { virtualClock, type VirtualClock } from '../virtual-clock.ts';

export const hookSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

export interface Received {
  readonly id: string;
  readonly at: number;
  readonly type: string;
  readonly vendorid: number | undefined;
  readonly accepted: boolean;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What the receiver does with a message: answers with a status, breaks the connection, or leaves it open. */
export type Behaviour = (message: Omit<Received, 'accepted'>) => number | Error | 'hangs';

/** Takes messages without sockets. */
export class Receiver {
  readonly received: Received[] = [];
  behaviour: Behaviour = () => 200;
  /** Messages under way, and the most that ever were, of one vendor and of all. */
  readonly most = { ofOneVendor: 0, ofAll: 0 };
  readonly #clock: VirtualClock;
  readonly #underWay: (number | undefined)[] = [];

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  readonly post: Post = async (request) => {
    const message = this.#read(request);
    const { vendorid } = message;
    this.#underWay.push(vendorid);
    this.most.ofAll = Math.max(this.most.ofAll, this.#underWay.length);
    const same = this.#underWay.filter((other) => other === vendorid).length;
    this.most.ofOneVendor = Math.max(this.most.ofOneVendor, same);
    try {
      const answer = this.behaviour(message);
      this.received.push({ ...message, accepted: answer === 200 });
      await this.#clock.yield();
      if (answer === 'hangs') return await aborted(request.signal);
      if (answer instanceof Error) throw answer;
      return answer;
    } finally {
      this.#underWay.splice(this.#underWay.indexOf(vendorid), 1);
    }
  };

  /** Of a vendor, what was accepted, each message once. */
  accepted(vendorid?: number): string[] {
    const wanted = this.received.filter((one) => one.accepted && (vendorid === undefined || one.vendorid === vendorid));
    return [...new Set(wanted.map(({ id }) => id))];
  }

  #read({ headers, body }: PostRequest): Omit<Received, 'accepted'> {
    const { 'webhook-id': id = '', 'webhook-timestamp': seconds, 'webhook-signature': signature } = headers;
    const sentAt = new Date(Number(seconds) * 1_000);
    expect(new Webhook(hookSecret).sign(id, sentAt, body)).toBe(signature);
    const { type, data } = JSON.parse(body) as { type: string; data: { vendorid?: number } };
    return { id, at: this.#clock.monotonic(), type, vendorid: data.vendorid, body, headers };
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
}

export interface Notified {
  readonly clock: VirtualClock;
  readonly receiver: Receiver;
  readonly mirror: Store;
  readonly target: NotifyTarget;
  readonly positions: FeedDependencies['positions'] & { readonly saved: Map<string, string> };
  sender: TargetSender;
  /** Writes a change of a vendor. */
  change(vendorid: number, name: string): Promise<void>;
  query<Row = Record<string, unknown>>(sql: string, ...values: unknown[]): Row[];
  /** A sender as after another start. */
  another(): TargetSender;
  /** Lets time pass until nothing waits for the receiver but what was given up. */
  untilSent(): Promise<void>;
}

export async function notified({
  name = 'receiver',
  file = join(temporaryFolder(), 'vendors.db'),
} = {}): Promise<Notified> {
  const clock = virtualClock();
  const random = constantRandom(0);
  const open = { migrations, clock, random, lockProcess: namedProcess() };
  const mirror = await openMirror({ ...open, path: file });
  const receiver = new Receiver(clock);
  const target = { name, url: 'https://receiver.example/hook', secret: new Secret(hookSecret), timeout: 15_000 };
  const saved = new Map<string, string>();
  const positions = {
    saved,
    find: (of: string) => Promise.resolve(saved.get(of)),
    save: (of: string, position: string) => Promise.resolve(void saved.set(of, position)),
  };
  const { outbox } = mirror;
  const another = (): TargetSender => {
    const feed = new Feed(target.name, { outbox, positions, clock, log: silentLog });
    const sender = new TargetSender({
      ...{ target, feed, outbox, clock, random },
      post: receiver.post,
      log: silentLog,
      grace: 2_500,
      observe: () => undefined,
    });
    onTestFinished(() => clock.during(sender.stop()));
    return sender;
  };
  onTestFinished(() => mirror.close());
  const query: Notified['query'] = (sql, ...values) => ask(file, sql, ...values);
  const at: Notified = {
    ...{ clock, receiver, mirror, target, positions, another, query },
    sender: another(),
    async change(vendorid, vendorName) {
      const stamp = await mirror.takeStamp();
      const context = { accountId: account, runId: null, deliveryId: null, lag: 0, source: 'delivery' } as const;
      await mirror.readings.applyReading({ stamp, row: row(vendorid, vendorName) }, context);
    },
    untilSent: () =>
      clock.until('all is sent', () => {
        const [end] = query<{ seq: number }>('SELECT coalesce(max(seq), 0) AS seq FROM _vendor_versions');
        const [is] = query<{ place: string }>('SELECT place FROM _notify_targets');
        const waits = query('SELECT 1 FROM _notify_queue WHERE due_ms IS NOT NULL').length > 0;
        return is?.place.split(':')[1] === String(end?.seq) && !waits;
      }),
  };
  return at;
}
