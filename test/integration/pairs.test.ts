/** What a caller hands to a part that is tested by itself: both are tested together. */
import { Webhook } from 'standardwebhooks';
import { expect, it, onTestFinished } from 'vitest';
import { fixedToken } from '../../src/api/auth/token-sources.ts';
import { connect } from '../../src/api/client.ts';
import { systemRandom } from '../../src/domain/clock.ts';
import { silentLog } from '../../src/domain/log.ts';
import { Secret } from '../../src/domain/secret.ts';
import type { PostRequest } from '../../src/http/post.ts';
import { createNotifier } from '../../src/notify/target-sender.ts';
import { ConnectionRate } from '../../src/api/http/rate-limiter.ts';
import { openMirror } from '../../src/store/mirror.ts';
import { delivery, knownVerifier, signed } from '../support/deliveries/signed-delivery.ts';
import { migrations, namedProcess, newPath } from '../support/mirror-file.ts';
import { account } from '../support/names.ts';
import { notified } from '../support/network/receiver.ts';
import { defaultSettings } from '../support/settings.ts';
import { testbed } from '../support/testbed.ts';
import { virtualClock } from '../support/virtual-clock.ts';

const period = 10_000;
const timeout = 2_000;

it.each([
  ['is aborted', 500],
  ['hangs until its timeout', timeout],
])(
  'L73 the client and the ledger of rates: a request that %s keeps its place for as long as it may still arrive, and a full period',
  async (_, abortedAt) => {
    const clock = virtualClock();
    const open = { migrations, clock, random: systemRandom, lockProcess: namedProcess() };
    const mirror = await openMirror({ ...open, path: newPath() });
    onTestFinished(() => mirror.close());
    const sent: number[] = [];
    const limit = { requests: 1, per: period };
    const rate = new ConnectionRate('default', { all: limit, post: limit, callbacks: limit }, clock);
    const { callbacks } = connect(
      {
        ...{ ...defaultSettings.service, lag: 0, baseUrl: 'https://service.example', timeout },
      },
      account,
      {
        ...{
          clock,
          random: systemRandom,
          log: silentLog,
          retryLimits: { attempts: 1, firstWait: 1, maxWait: 1, totalWait: 1 },
        },
        fetch: (_url, { signal }) => {
          sent.push(clock.monotonic());
          return new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason as Error));
          });
        },
        reserveRequest: mirror.reserveRequest,
        tokens: fixedToken(new Secret('token')),
        rate: () => rate,
      },
    );
    const [first, second] = [new AbortController(), new AbortController()];
    const [one, other] = [first, second].map(({ signal }) => callbacks.list({}, { signal }).catch(String));
    await clock.advance(abortedAt);
    first.abort(new Error('Removed.'));
    await clock.advance(1);
    await one;
    await clock.advance(2 * (period + timeout));
    second.abort(new Error('Removed.'));
    await other;
    expect(sent).toHaveLength(2);
    expect(sent[1]! - sent[0]!).toBeGreaterThanOrEqual(abortedAt + timeout + period);
  },
);

it('L73 the receiver and the secrets: what is signed with the first or the second of two keys is accepted', async () => {
  const place = await testbed({ level: 'listener' });
  const second = new Secret('canary-verifier-second-0123456789');
  await place.secrets.verifiers.prove(account, 'bill_vendor', 77, second);
  const statusOf = async (key: Secret): Promise<number> =>
    (await fetch(place.address, signed(delivery, key.reveal()))).status;
  expect([await statusOf(second), await statusOf(knownVerifier)]).toEqual([200, 200]);
  expect(await statusOf(new Secret('of-somebody-else'))).toBe(401);
});

it('L73 outgoing webhooks and their settings: each of two secrets verifies the message', async () => {
  const at = await notified();
  const secrets = [1, 2].map((byte) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`);
  const posted: PostRequest[] = [];
  const notifier = createNotifier({
    settings: { notify: [{ ...at.target, secret: new Secret(secrets.join(' ')) }], shutdownTimeout: 10_000 },
    ...{ outbox: at.mirror.outbox, positions: at.positions, clock: at.clock, random: systemRandom, log: silentLog },
    post: (request) => {
      posted.push(request);
      return Promise.resolve(200);
    },
    observe: () => undefined,
  });
  await notifier.start();
  onTestFinished(() => at.clock.during(notifier.stop()));
  await at.clock.pass(1_000);
  await at.change(1, 'one');
  await at.untilSent();
  const { body, headers } = posted[0]!;
  // `verify` compares the time with that of the machine: signed again, the message must bear the same signature.
  const sentAt = new Date(Number(headers['webhook-timestamp']) * 1_000);
  const signatures = headers['webhook-signature']?.split(' ');
  expect(signatures).toEqual(secrets.map((one) => new Webhook(one).sign(headers['webhook-id'] ?? '', sentAt, body)));
});
