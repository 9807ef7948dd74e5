/** A testbed: files, listener and subscription manager of one installation, and the sandbox that talks to them over real sockets. */
import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { connect } from '../../../src/api/client.ts';
import { fixedToken } from '../../../src/api/auth/token-source.ts';
import { systemRandom, type Clock } from '../../../src/domain/clock.ts';
import { Secret, silentLog, type Log } from '../../../src/domain/log.ts';
import { startEmbeddedSandbox, type EmbeddedSandbox } from '../../../src/sandbox/embedded.ts';
import type { SandboxOptions } from '../../../src/sandbox/service.ts';
import { parseWorld } from '../../../src/sandbox/core/worlds.ts';
import { openMirror, type Mirror } from '../../../src/store/mirror.ts';
import { openSecrets, type Secrets } from '../../../src/store/secrets/secrets.ts';
import { SubscriptionManager } from '../../../src/webhook/subscribe/subscription-manager.ts';
import { createListener } from '../../../src/webhook/receive/listener.ts';
import type { Outcome } from '../../../src/webhook/receive/outcomes.ts';
import { memory } from '../memory.ts';
import { migrations, namedProcess, temporaryFolder } from '../mirror-file.ts';
import { virtualClock, type VirtualClock } from '../virtual-clock.ts';

export const account = '6BApk';
/** A verifier that stands in the secrets from the start, as if proven for callback 77. */
export const knownVerifier = new Secret('canary-verifier-0123456789abcdef');

export interface Hall {
  readonly mirror: Mirror;
  readonly secrets: Secrets;
  readonly folder: string;
  /** Where the listener listens. */
  readonly base: string;
  /** The address of the account's callback. */
  readonly address: string;
  readonly outcomes: Outcome[];
  /** Stops the listener and closes the files, as a daemon does. */
  readonly close: () => Promise<void>;
  readonly told: { deliveries: number; codes: number; deaf: number };
}

export interface HallOptions {
  readonly clock?: Clock;
  readonly folder?: string;
  readonly port?: number;
  readonly log?: Log;
  readonly signatureHeader?: string;
  readonly onCode?: () => void;
  readonly mirror?: (mirror: Mirror) => Pick<Mirror, 'acceptDeliveries'>;
}

const quick = (): VirtualClock => virtualClock({ auto: true, deadline: 5_000 });

/** Files and a listener; nobody outside. */
export async function hall(options: HallOptions = {}): Promise<Hall> {
  const { clock = quick(), folder = temporaryFolder(memory), log = silentLog } = options;
  const mirror = await openMirror({
    path: join(folder, 'vendors.db'),
    migrations,
    clock,
    random: systemRandom,
    lockProcess: namedProcess(),
  });
  const secrets = await openSecrets({ path: join(folder, 'secrets.db'), migrations, clock, random: systemRandom });
  await secrets.verifiers.prove(account, 'bill_vendor', 77, knownVerifier);
  const tokens = await secrets.verifiers.pathTokens([account, 'Other']);
  const outcomes: Outcome[] = [];
  const told = { deliveries: 0, codes: 0, deaf: 0 };
  const listener = createListener({
    host: '127.0.0.1',
    port: options.port ?? 0,
    clock,
    log,
    tokens,
    mirror: options.mirror?.(mirror) ?? mirror,
    verifiers: secrets.verifiers,
    signatureHeader: options.signatureHeader ?? 'auto',
    onDelivery: () => (told.deliveries += 1),
    onCode: () => {
      told.codes += 1;
      options.onCode?.();
    },
    onSilence: () => (told.deaf += 1),
    observe: (outcome) => outcomes.push(outcome),
  });
  await listener.start();
  const close = async (): Promise<void> => {
    await listener.stop();
    await secrets.close();
    await mirror.close();
  };
  onTestFinished(close);
  const base = `http://127.0.0.1:${listener.address.port}`;
  const address = `${base}/webhooks/${account}/${tokens.get(account)?.reveal() ?? ''}`;
  return { mirror, secrets, folder, base, address, outcomes, close, told };
}

export const delivery: Readonly<Record<string, string>> = {
  name: 'bill_vendor.update',
  object_id: '1001',
  account_id: account,
  business_id: '4242',
  identity_id: '99',
  user_id: '1',
};

export const formType = 'application/x-www-form-urlencoded';

/** As Python's json.dumps would, for plain texts; the signature's own tests know better ones. */
export function signed(
  parameters: Readonly<Record<string, string>>,
  verifier = knownVerifier.reveal(),
): { method: string; headers: Record<string, string>; body: string } {
  const text = `{${Object.entries(parameters)
    .map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`)
    .join(', ')}}`;
  return {
    method: 'POST',
    headers: {
      'content-type': formType,
      'x-service-hmac-sha256': createHmac('sha256', verifier).update(text).digest('base64'),
    },
    body: new URLSearchParams(parameters).toString(),
  };
}

export interface Testbed extends Hall {
  readonly service: EmbeddedSandbox;
  readonly subscriptions: SubscriptionManager;
  readonly clock: VirtualClock;
  /** Accounts that `onVerified` was told of. */
  readonly verified: string[];
  /** Requests that reached the service, as `PUT /path`. */
  readonly requests: string[];
  /** Lets the subscription manager wait in vain: waits until it waits about `ms` milliseconds for something to come, and lets them pass. */
  pass(ms: number): Promise<void>;
  /** Another subscription manager on the same files, as after a restart, or with other settings. */
  another(changes?: { publicUrl?: string | null; events?: readonly string[] }): SubscriptionManager;
}

export interface TestbedOptions extends HallOptions {
  readonly world?: readonly string[];
  readonly sandbox?: Partial<SandboxOptions>;
  /** The service that is there already. */
  readonly service?: EmbeddedSandbox;
  readonly events?: readonly string[];
  /** Answers a request to the service in its place. */
  readonly intercept?: (method: string, body: string) => Response | undefined;
}

/** The whole testbed: the subscription manager is made, and not started. */
export async function testbed(options: TestbedOptions = {}): Promise<Testbed> {
  const clock = (options.clock as VirtualClock | undefined) ?? quick();
  let subscriptions: SubscriptionManager | undefined;
  const rooms = await hall({ ...options, clock, onCode: () => subscriptions?.codeArrived() });
  const service =
    options.service ??
    (await startEmbeddedSandbox({
      vendors: 5,
      rateLimits: null,
      ...options.sandbox,
      world: parseWorld(options.world ?? []),
      account,
      clock,
      fetch: globalThis.fetch,
    }));
  if (!options.service) onTestFinished(() => service.stop());
  const requests: string[] = [];
  service.sandbox.onRequest(({ method, path }) => requests.push(`${method} ${path}`));
  const { callbacks } = connect(
    {
      baseUrl: service.baseUrl,
      apiVersion: 'alpha',
      paging: { pageParam: 'page', perPageParam: 'per_page', perPage: 100, concurrency: 1 },
      timeout: 90_000,
      rateLimit: { vendors: { requests: 600, per: 60_000 }, callbacks: { requests: 1_000, per: 60_000 } },
    },
    account,
    {
      clock,
      random: systemRandom,
      fetch: async (url, init) => {
        const body = typeof init?.body === 'string' ? init.body : '';
        return options.intercept?.(init?.method ?? 'GET', body) ?? (await globalThis.fetch(url, init));
      },
      log: silentLog,
      takeTurn: rooms.mirror.takeTurn,
      tokens: fixedToken(new Secret(service.token)),
    },
  );
  const verified: string[] = [];
  const another: Testbed['another'] = (changes = {}) => {
    const made = new SubscriptionManager({
      accountId: account,
      publicUrl: rooms.base,
      events: options.events ?? ['bill_vendor'],
      callbacks,
      mirror: rooms.mirror,
      verifiers: rooms.secrets.verifiers,
      clock,
      log: options.log ?? silentLog,
      inTurn: (work) => work(),
      onVerified: (accountId) => verified.push(accountId),
      ...changes,
    });
    onTestFinished(() => made.stop());
    subscriptions = made;
    return made;
  };
  const pass: Testbed['pass'] = async (ms) => {
    while (!clock.pending().some((left) => left > ms - 1_000 && left <= ms)) await clock.yield();
    await clock.advance(ms);
  };
  return { ...rooms, clock, pass, service, verified, requests, another, subscriptions: another() };
}
