/** The callbacks of this installation: where a person changes one at the service, what we hold about it follows. */
import type { Installation } from '../../app/installation.ts';
import type { Secret } from '../../domain/log.ts';
import type { Callback } from '../../domain/vendor.ts';
import { containsToken } from '../../webhook/address.ts';
import { OwnCallbacks } from '../../webhook/subscribe/own-callbacks.ts';

/** Tells which callbacks of an account this installation registered. */
export async function isOwn(
  { mirror, secrets }: Installation,
  account: string,
): Promise<(callback: Callback) => boolean> {
  const known = new Set((await mirror.callbacks.knownCallbacks(account)).map(({ callbackid }) => callbackid));
  const pathToken = await secrets.verifiers.pathToken(account);
  return ({ callbackid, uri }) => known.has(callbackid) || containsToken(uri, account, pathToken);
}

/** What the files hold about one of our callbacks. */
export interface OwnCallback {
  /** A new code is about to be asked for: the listener takes only codes that are awaited. */
  awaitCode(): Promise<void>;
  /** The service has sent a new code, and delivers nothing before it comes back. */
  unverified(): Promise<void>;
  /** The service has accepted the code: signatures are made with it from now on. */
  proven(code: Secret): Promise<void>;
  deleted(): Promise<void>;
}

/** What the files hold about a callback that the service lists; undefined if another program registered it. */
export async function ownCallback(
  installation: Installation,
  account: string,
  callbackid: number,
  signal: AbortSignal,
): Promise<OwnCallback | undefined> {
  const { mirror, secrets, settings } = installation;
  const { verifiers } = secrets;
  const ownCallbacks = new OwnCallbacks({
    accountId: account,
    publicUrl: settings.listener.publicUrl ?? '',
    pathToken: await verifiers.pathToken(account),
    callbacks: installation.account(account).client.callbacks,
    mirror,
    verifiers,
  });
  await ownCallbacks.refresh(signal);
  const callback = ownCallbacks.all().find((candidate) => candidate.callbackid === callbackid);
  if (!callback) return undefined;
  const see = async (verified: boolean): Promise<void> => {
    ownCallbacks.add({ ...callback, verified });
    await ownCallbacks.record();
  };
  return {
    awaitCode: () => verifiers.expect(account, callback.event, callbackid),
    unverified: () => see(false),
    async proven(code) {
      await verifiers.prove(account, callback.event, callbackid, code);
      await see(true);
    },
    async deleted() {
      await ownCallbacks.forget(callbackid);
      await ownCallbacks.record();
    },
  };
}
