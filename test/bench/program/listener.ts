/** The program's listener over an installation. With a worker beside it, as in the daemon, a delivery leads to a reading. */
import { systemClock } from '../../../src/domain/clock.ts';
import { silentLog } from '../../../src/domain/log.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { Worker } from '../../../src/sync/worker.ts';
import { nobodysAccount } from '../../../src/webhook/address.ts';
import { createListener } from '../../../src/webhook/listener.ts';
import { account, open, type Place } from '../setup/installation.ts';
import { verifier, type ListenerResult } from '../load/delivery-load.ts';
import type { JobResult } from '../setup/job.ts';

export interface ListenerParams extends Place {
  readonly worker: boolean;
}

/** Asked for anything, it pulls, and answers how that ended. */
export async function job(params: ListenerParams): Promise<JobResult> {
  const installation = await open(params);
  const { mirror, secrets } = installation;
  await mirror.place.beginDaemon(secrets.path);
  await secrets.verifiers.prove(account, 'bill_vendor', 77, new Secret(verifier));
  const tokens = await secrets.verifiers.pathTokens([account]);
  const pull = (): ReturnType<typeof installation.pull> =>
    installation.pull(account, { kind: 'pull', trigger: 'command', signal: new AbortController().signal });
  const syncAccount = installation.account(account);
  const worker = new Worker(syncAccount, () => Promise.reject(new Error('Vendors are read by their numbers here.')));
  const nothing = (): void => undefined;
  const listener = createListener({
    host: '127.0.0.1',
    port: 0,
    trustedProxies: 'private',
    clock: systemClock,
    log: silentLog,
    tokens,
    previousTokens: new Map(),
    nobodysToken: await secrets.verifiers.pathToken(nobodysAccount),
    process: '',
    mirror: mirror.deliveries,
    verifiers: secrets.verifiers,
    signatureHeader: 'auto',
    onDelivery: params.worker ? () => worker.wake() : nothing,
    onCode: nothing,
    onWrongSignatures: nothing,
    onRefused: nothing,
    observe: nothing,
  });
  await listener.start();
  if (params.worker) await worker.start();
  const result: ListenerResult = {
    port: listener.address.port,
    path: `/webhooks/${account}/${tokens.get(account)!.reveal()}`,
  };
  const stop = async (): Promise<void> => {
    await listener.stop();
    await worker.stop();
    await installation.close();
  };
  return { result, answer: async () => (await pull()).outcome, stop };
}
