/** Files and a listener of one installation, without a service. */
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { systemRandom, type Clock } from '../../../src/domain/clock.ts';
import type { HttpLimits } from '../../../src/http/connection-limits.ts';
import type { TrustedProxies } from '../../../src/http/networks.ts';
import { silentLog, type Log } from '../../../src/domain/log.ts';
import { openMirror, type Store } from '../../../src/store/mirror.ts';
import { openSecrets, type Secrets } from '../../../src/store/secrets/secrets.ts';
import { RefusalLog } from '../../../src/webhook/refusal-log.ts';
import { nobodysAccount } from '../../../src/webhook/address.ts';
import { createListener } from '../../../src/webhook/listener.ts';
import type { Outcome } from '../../../src/webhook/delivery-receiver.ts';
import type { Secret } from '../../../src/domain/secret.ts';
import { knownVerifier } from '../deliveries/signed-delivery.ts';
import { migrations, namedProcess, placeMirror, temporaryFolder } from '../mirror-file.ts';
import { account } from '../names.ts';
import { virtualClock, type VirtualClock } from '../virtual-clock.ts';

export interface ListenerTestbed {
  readonly mirror: Store;
  readonly secrets: Secrets;
  readonly folder: string;
  /** The tokens of the addresses that the listener serves, and those that rotations replace. */
  readonly tokens: Record<'current' | 'previous', Map<string, Secret>>;
  /** Where the listener listens. */
  readonly base: string;
  /** The address of the account's callback. */
  readonly address: string;
  readonly outcomes: Outcome[];
  /** Stops the listener and closes the files, as a daemon does. */
  readonly close: () => Promise<void>;
  readonly called: { deliveries: number; codes: number; silences: number };
}

export interface ListenerOptions {
  readonly clock?: Clock;
  readonly folder?: string;
  readonly port?: number;
  readonly log?: Log;
  readonly signatureHeader?: string;
  readonly limits?: Partial<HttpLimits>;
  /** Default: as in the settings. */
  readonly trustedProxies?: TrustedProxies;
  readonly onCode?: () => void;
  readonly mirror?: (mirror: Store) => Pick<Store['deliveries'], 'acceptDeliveries'>;
}

export const quickClock = (): VirtualClock => virtualClock({ auto: true, deadline: 5_000 });

/** Files and a listener, without a service. */
export async function openListener(options: ListenerOptions): Promise<ListenerTestbed> {
  const { clock = quickClock(), folder = temporaryFolder(), log = silentLog } = options;
  const path = join(folder, 'vendors.db');
  await placeMirror(path);
  const mirror = await openMirror({
    path,
    migrations,
    clock,
    random: systemRandom,
    lockProcess: namedProcess(),
  });
  const secrets = await openSecrets({ path: join(folder, 'secrets.db'), migrations, clock, random: systemRandom });
  await secrets.verifiers.prove(account, 'bill_vendor', 77, knownVerifier);
  const tokens = {
    current: new Map(await secrets.verifiers.pathTokens([account, 'Other'])),
    previous: new Map(await secrets.verifiers.previousTokens()),
  };
  const outcomes: Outcome[] = [];
  const told = { deliveries: 0, codes: 0, silences: 0 };
  const refused = new RefusalLog({ clock, log, mirror: mirror.refusals });
  const listener = createListener({
    host: '127.0.0.1',
    port: options.port ?? 0,
    trustedProxies: options.trustedProxies ?? 'private',
    clock,
    log,
    tokens: tokens.current,
    previousTokens: tokens.previous,
    nobodysToken: await secrets.verifiers.pathToken(nobodysAccount),
    process: folder,
    mirror: options.mirror?.(mirror) ?? mirror.deliveries,
    verifiers: secrets.verifiers,
    ...(options.limits && { limits: options.limits }),
    signatureHeader: options.signatureHeader ?? 'auto',
    onDelivery: () => (told.deliveries += 1),
    onCode: () => {
      told.codes += 1;
      options.onCode?.();
    },
    onWrongSignatures: () => (told.silences += 1),
    onRefused: (id, outcome, detail) => refused.note(id, outcome, detail),
    observe: (outcome) => outcomes.push(outcome),
  });
  await listener.start();
  const close = async (): Promise<void> => {
    await listener.stop();
    await refused.stop();
    await secrets.close();
    await mirror.close();
  };
  onTestFinished(close);
  const base = `http://127.0.0.1:${listener.address.port}`;
  const address = `${base}/webhooks/${account}/${tokens.current.get(account)?.reveal() ?? ''}`;
  return { mirror, secrets, tokens, folder, base, address, outcomes, close, called: told };
}
