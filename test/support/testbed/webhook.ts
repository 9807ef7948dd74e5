/** Files, listener and subscription manager of one installation, and the sandbox that talks to them over real sockets. The manager is made, and not started. */
import { expect, onTestFinished } from 'vitest';
import { connect } from '../../../src/api/client.ts';
import { ConnectionRate } from '../../../src/api/http/rate-limiter.ts';
import { fixedToken, type TokenSource } from '../../../src/api/auth/token-sources.ts';
import { systemRandom } from '../../../src/domain/clock.ts';
import { CauseLog } from '../../../src/domain/cause-log.ts';
import { silentLog } from '../../../src/domain/log.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { startEmbeddedSandbox, type EmbeddedSandbox } from '../../../src/sandbox/embedded.ts';
import type { SandboxOptions } from '../../../src/sandbox/service.ts';
import { oddWorld } from '../odd-world.ts';
import { SubscriptionManager, type SubscriptionManagerOptions } from '../../../src/webhook/subscription-manager.ts';
import { codeWait } from '../../../src/webhook/reconciler.ts';
import { account } from '../names.ts';
import { defaultSettings } from '../settings.ts';
import type { VirtualClock } from '../virtual-clock.ts';
import { openListener, quickClock, type ListenerOptions, type ListenerTestbed } from './listener.ts';

export interface WebhookTestbed extends ListenerTestbed {
  readonly service: EmbeddedSandbox;
  readonly subscriptions: SubscriptionManager;
  readonly clock: VirtualClock;
  /** Accounts that were passed to `onVerified`. */
  readonly verified: string[];
  /** How many codes the service did not accept. */
  readonly wrongCodes: () => number;
  /** Requests that reached the service, as `PUT /path`. */
  readonly requests: string[];
  /** How many answers of the service have not arrived whole. */
  readonly unanswered: () => number;
  /** Lets a check wait in vain for a code, once `count` requests have reached the service. */
  codeWaitAfter(count: number): Promise<void>;
  /** Another subscription manager on the same files, as after a restart, or with other settings. */
  another(changes?: Partial<Pick<SubscriptionManagerOptions, 'publicUrl' | 'events' | 'asking'>>): SubscriptionManager;
}

export interface WebhookOptions extends ListenerOptions {
  /** Whether the callback is verified; what that took is forgotten. */
  readonly subscribed?: boolean;
  readonly world?: readonly string[];
  readonly sandbox?: Partial<SandboxOptions>;
  /** The service that is there already. */
  readonly service?: EmbeddedSandbox;
  readonly events?: readonly string[];
  /** Answers a request to the service in its place. */
  readonly intercept?: (method: string, body: string) => Response | undefined;
  /** Gives the tokens in place of the usual source. */
  readonly tokens?: (usual: TokenSource) => TokenSource;
}

export async function openWebhook(options: WebhookOptions): Promise<WebhookTestbed> {
  const clock = (options.clock as VirtualClock | undefined) ?? quickClock();
  let subscriptions: SubscriptionManager | undefined;
  const listener = await openListener({ ...options, clock, onCode: () => subscriptions?.codeArrived() });
  const service =
    options.service ??
    (await startEmbeddedSandbox({
      vendors: 5,
      rateLimits: null,
      ...options.sandbox,
      world: oddWorld(...(options.world ?? [])),
      account,
      clock,
      fetch: globalThis.fetch,
    }));
  if (!options.service) onTestFinished(() => service.stop());
  const requests: string[] = [];
  let unanswered = 0;
  const arrived = (): void => void (unanswered -= 1);
  const counted: typeof globalThis.fetch = async (...request) => {
    unanswered += 1;
    const answer = await globalThis.fetch(...request).catch((error: unknown) => {
      arrived();
      throw error;
    });
    answer.clone().arrayBuffer().then(arrived, arrived);
    return answer;
  };
  service.sandbox.onRequest(({ method, path }) => requests.push(`${method} ${path}`));
  const usual = fixedToken(new Secret(service.token));
  const limit = { requests: 1_000, per: 60_000 };
  const rate = new ConnectionRate('default', { all: limit, post: limit, callbacks: limit }, clock);
  const { callbacks } = connect(
    {
      ...defaultSettings.service,
      lag: 0,
      baseUrl: service.baseUrl,
      timeout: 90_000,
    },
    account,
    {
      clock,
      random: systemRandom,
      fetch: async (url, init) => {
        const body = typeof init.body === 'string' ? init.body : '';
        return options.intercept?.(init.method, body) ?? (await counted(url, init));
      },
      log: silentLog,
      reserveRequest: listener.mirror.reserveRequest,
      tokens: options.tokens?.(usual) ?? usual,
      rate: () => rate,
    },
  );
  const verified: string[] = [];
  let wrongCodes = 0;
  const another: WebhookTestbed['another'] = (changes = {}) => {
    const made = new SubscriptionManager({
      accountId: account,
      publicUrl: listener.base,
      events: options.events ?? ['bill_vendor'],
      callbacks,
      mirror: listener.mirror,
      verifiers: listener.secrets.verifiers,
      clock,
      log: options.log ?? silentLog,
      causes: new CauseLog({
        ...{ connectionOf: () => 'default', accounts: () => [account] },
        ...{ clock, log: options.log ?? silentLog },
      }),
      asking: { fetch: globalThis.fetch, clock, isOfMirror: (process) => Promise.resolve(process === listener.folder) },
      withPermit: (work) => work(),
      onVerified: (accountId) => verified.push(accountId),
      onTokens(accountId, { current, previous }) {
        listener.tokens.current.set(accountId, current);
        if (previous) listener.tokens.previous.set(accountId, previous);
        else listener.tokens.previous.delete(accountId);
      },
      onRotated: () => Promise.resolve(),
      onWrongCode: () => (wrongCodes += 1),
      ...changes,
    });
    onTestFinished(() => made.stop());
    subscriptions = made;
    return made;
  };
  const codeWaitAfter: WebhookTestbed['codeWaitAfter'] = async (count) => {
    // The clock may have passed short timers meanwhile: never ten seconds of them.
    const isWaiting = (): boolean => clock.pending().some((left) => left > codeWait - 10_000 && left <= codeWait);
    while (requests.length < count || !isWaiting()) await clock.yield();
    await clock.advance(codeWait);
  };
  const at = {
    ...{ ...listener, clock, codeWaitAfter, service, verified, requests, another },
    unanswered: () => unanswered,
    wrongCodes: () => wrongCodes,
    subscriptions: another(),
  };
  if (options.subscribed) {
    expect(await at.subscriptions.check()).toBe('verified');
    requests.length = verified.length = 0;
  }
  return at;
}

/** The callbacks that the service holds. */
export const listed = ({ service }: WebhookTestbed) => service.sandbox.callbacks(account).all();
/** What was asked of the service besides lists. */
export const writes = ({ requests }: WebhookTestbed) => requests.filter((request) => !request.startsWith('GET'));
export const base = `/events/account/${account}/events/callbacks`;

/** Lets the service announce a change. @returns how its attempt went. */
export async function announce({ service }: WebhookTestbed, event = 'bill_vendor.update'): Promise<number | undefined> {
  const attempt = new Promise<number | undefined>((resolve) => {
    const stop = service.sandbox.onDelivery(({ kind, status }) => {
      if (kind !== 'event') return;
      stop();
      resolve(status);
    });
  });
  service.sandbox.emit(account, event, 1001);
  return attempt;
}
