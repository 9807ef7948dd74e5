/**
 * `callbacks list`, `register`, `verify`, `resend` and `delete`: straight to the service; where a callback is our own, our records follow.
 * `rotate` only makes a new path token: the daemon, which has the listener, registers and verifies the new address and then deletes the callbacks
 * at the old one, when it sees the token or with its next start.
 *
 * Codes are read from standard input or a hidden prompt, never from arguments. Addresses of the form `/webhooks/ACCOUNT/TOKEN` are always
 * shown as `…`, whichever installation registered them. `register` refuses an event that does not exist, and what is not an address, with
 * 64.
 */
import type { CallbacksApi } from '../api/client.ts';
import type { Installation } from '../app/installation.ts';
import { sleep } from '../domain/clock.ts';
import { exitStatus, MirrorError, withFullStop, type ExitStatus } from '../domain/errors.ts';
import { isAboutVendors } from '../domain/events.ts';
import { silentLog } from '../domain/log.ts';
import { Secret } from '../domain/secret.ts';
import type { Callback } from '../domain/vendor.ts';
import { callbackAddress, containsToken } from '../webhook/address.ts';
import { OwnCallbacks } from '../webhook/own-callbacks.ts';
import { loadSettings, oneAccount } from './load-settings.ts';
import { isDaemonThere } from './open-mirror.ts';
import { withSettings, type Call, type CommandHandler } from './process/command.ts';
import type { ProcessContext } from './process/process-context.ts';
import { print, printJson, printNotice } from './terminal/print.ts';
import { isInteractive, prompt, readInput } from './terminal/prompt.ts';
import { printTable } from './terminal/table.ts';
import { withInstallation } from './with-installation.ts';

interface ListOptions {
  readonly event?: string;
  readonly uri?: string;
  readonly verified?: 'true' | 'false';
}

export const callbacksList: CommandHandler<ListOptions> = async (call) => {
  const { context, options } = call;
  const settings = await loadSettings(call);
  const account = oneAccount(settings);
  const { event, uri } = options;
  const verified = options.verified && options.verified === 'true';
  const callbacks = await withInstallation(
    call,
    settings,
    async (installation) => {
      const { client } = installation.account(account);
      const onRejected = (reason: string): void => printNotice(context, `Left out: ${reason}`);
      const listed = await client.callbacks.list({ event, uri, verified }, { signal: context.interrupted, onRejected });
      const own = await isOwn(installation, account);
      return listed.map((callback) => shownCallback(callback, own(callback)));
    },
    { looksOnly: true },
  );
  if (options.json) printJson(context, { ok: true, account, callbacks });
  else if (callbacks.length > 0) await printCallbacks(context, callbacks);
  else printNotice(context, 'No callbacks.');
  return exitStatus.done;
};

export const callbacksRegister: CommandHandler = async (call) => {
  const [event = '', uri] = call.args;
  if (uri === undefined) return registerOwn(call, event);
  return change(
    call,
    ({ callbacks, signal }) => callbacks.register(event, uri, { signal }),
    ({ callbackid }) =>
      `The service sends a code to that address; \`vendor-mirror callbacks verify ${callbackid}\` sends it back.`,
  );
};

/** Registers what a daemon would register by itself; it takes the code that comes. */
async function registerOwn(call: Call, event: string): Promise<ExitStatus> {
  return change(
    call,
    async ({ installation, account, callbacks, signal }) => {
      const { mirror, secrets, settings } = installation;
      const { verifiers } = secrets;
      const { publicUrl } = settings.listener;
      if (publicUrl === null)
        throw new MirrorError('usage', 'listener.publicUrl is not set, so this installation has no address: give one.');
      await verifiers.forgetRegistrations(account);
      await mirror.callbacks.endWaits(account);
      // Before the request is sent, because the code may arrive before the answer.
      await verifiers.expect(account, event, null);
      const address = callbackAddress(publicUrl, account, await verifiers.pathToken(account));
      const callback = await callbacks.register(event, address, { signal });
      await verifiers.expect(account, event, callback.callbackid);
      return callback;
    },
    () => 'The service sends a code to the listener; a running daemon sends it back.',
  );
}

export const callbacksVerify: CommandHandler = async (call) => {
  const callbackid = Number(call.args[0]);
  const code = await codeOf(call);
  return change(call, async ({ callbacks, signal, own }) => {
    const ours = await own(callbackid);
    const callback = await callbacks.verify(callbackid, code, { signal });
    if (!callback.verified)
      throw new MirrorError('rejected', 'The service accepted the code but still shows the callback as not verified.');
    await ours?.proven(code);
    return callback;
  });
};

export const callbacksResend: CommandHandler = async (call) => {
  const callbackid = Number(call.args[0]);
  return change(
    call,
    async ({ callbacks, signal, own }) => {
      const ours = await own(callbackid);
      await ours?.awaitCode();
      const callback = await callbacks.resend(callbackid, { signal });
      await ours?.unverified();
      return callback;
    },
    () => 'A new code was sent to this address; nothing is delivered until it is verified.',
  );
};

export const callbacksDelete: CommandHandler = async (call) => {
  const callbackid = Number(call.args[0]);
  return change(call, async ({ installation, account, callbacks, signal, own }) => {
    const { mirror, settings } = installation;
    try {
      const ours = await own(callbackid);
      await callbacks.remove(callbackid, { signal });
      if (ours) await ours.deleted();
      else await mirror.callbacks.forgetUnknown(account, callbackid);
    } catch (error) {
      const isLeft = !settings.namedAccounts.includes(account);
      const isBarred = error instanceof MirrorError && ['not_found', 'access_denied'].includes(error.code);
      if (!isLeft || !isBarred) throw error;
      // The account may be gone from the service, or have another id there: nobody could ever delete it by this one.
      const known = await mirror.callbacks.knownCallbacks(account);
      await mirror.callbacks.replaceCallbacks(
        account,
        known.filter((callback) => callback.callbackid !== callbackid),
      );
      printNotice(
        call.context,
        `${withFullStop(error.message)} So callback ${callbackid} is forgotten here. If it is still registered there, what it sends is refused.`,
      );
    }
    return undefined;
  });
};

/** How long a rotation that a daemon carries out is waited for, and how often it is looked at, in milliseconds. */
const rotationWait = 60_000;
const rotationLook = 250;

export const callbacksRotate: CommandHandler = async (call) => {
  const { context, options } = call;
  const settings = await loadSettings(call);
  const account = oneAccount(settings);
  // Beside the built-in sandbox, `serve` gives the listener its address.
  if (settings.listener.publicUrl === null && settings.sandbox === null)
    throw new MirrorError('usage', 'listener.publicUrl is not set, so this installation has no address to replace.');
  const isPaused = settings.paused.has(account);
  const found = await withInstallation(call, settings, async ({ mirror, secrets }) => {
    const { verifiers } = secrets;
    const began = await verifiers.rotate(account);
    await verifiers.forgetRegistrations(account);
    await mirror.callbacks.endWaits(account);
    const daemon_running = await isDaemonThere(context, settings);
    const isUnderWay = async (): Promise<boolean> => (await verifiers.previousTokens()).has(account);
    const end = context.clock.monotonic() + rotationWait;
    while (daemon_running && !isPaused && context.clock.monotonic() < end && (await isUnderWay()))
      await sleep(context.clock, rotationLook, context.interrupted);
    return { began, daemon_running, rotated: !(await isUnderWay()) };
  });
  if (options.json) printJson(context, { ok: true, account, ...found });
  else print(context, withSettings(context, rotationText(found, { account, isPaused })));
  return found.daemon_running && !isPaused && !found.rotated ? exitStatus.incomplete : exitStatus.done;
};

function rotationText(
  { began, daemon_running, rotated }: { began: boolean; daemon_running: boolean; rotated: boolean },
  { account, isPaused }: { account: string; isPaused: boolean },
): string {
  if (rotated)
    return 'The address is replaced: the callback at the new one is verified, and the one at the old is deleted.';
  const made = began ? 'A new address is made.' : 'A new address was made before, and is not in use yet.';
  const until = 'Until then, deliveries to the old address are accepted.';
  const next = 'the new address is registered and verified, and the callback at the old one is deleted';
  if (isPaused)
    return `${made} When \`vendor-mirror accounts resume ${account}\` resumes the account, ${next}. ${until}`;
  if (!daemon_running) return `${made} When \`vendor-mirror serve\` runs next, ${next}.`;
  return `${made} It is not verified yet, and the daemon goes on with it: \`vendor-mirror status --account ${account}\` and the log say what it waits for. ${until}`;
}

interface Changing {
  readonly installation: Installation;
  readonly account: string;
  readonly callbacks: CallbacksApi;
  readonly signal: AbortSignal;
  /** What we hold about a callback, if it is ours. */
  readonly own: (callbackid: number) => Promise<OwnCallback | undefined>;
}

/** Makes a change at the service, shows the callback that is left of it, and says what comes next. */
async function change(
  call: Call,
  work: (changing: Changing) => Promise<Callback | undefined>,
  next?: (callback: Callback) => string,
): Promise<ExitStatus> {
  const { context, options } = call;
  const signal = context.interrupted;
  const settings = await loadSettings(call);
  const account = oneAccount(settings);
  const callback = await withInstallation(call, settings, async (installation) => {
    const { callbacks } = installation.account(account).client;
    const own: Changing['own'] = (callbackid) => ownCallback(context, installation, account, callbackid);
    const left = await work({ installation, account, callbacks, signal, own });
    return left && shownCallback(left, (await isOwn(installation, account))(left));
  });
  if (options.json) printJson(context, { ok: true, account, callback: callback ?? null });
  else if (callback) await printCallbacks(context, [callback]);
  else print(context, 'The callback is deleted.');
  if (!options.json && callback && next) printNotice(context, next(callback));
  return exitStatus.done;
}

/** The code from the command line, or better from standard input: arguments can be seen by other users of the machine. */
async function codeOf({ context, args }: Pick<Call, 'context' | 'args'>): Promise<Secret> {
  const [, given = '-'] = args;
  const read = (): Promise<string> =>
    isInteractive(context) ? prompt(context, 'The verification code:', { hidden: true }) : readInput(context);
  // Blanks may belong to a code, the end of its line does not.
  const code = (given === '-' ? await read() : given).replace(/\r?\n$/, '');
  if (code === '') throw new MirrorError('usage', 'There is no verification code on standard input.');
  return new Secret(code);
}

interface ShownCallback extends Callback {
  readonly own: boolean;
}

/** The callback without the secret at the end of its address, with which anybody could send to the listener. */
function shownCallback({ callbackid, event, uri, verified }: Callback, own: boolean): ShownCallback {
  return { callbackid, event, uri: uri.replace(/(\/webhooks\/[^/?#]+\/)[^/?#]+/, '$1…'), verified, own };
}

function printCallbacks(context: ProcessContext, callbacks: readonly ShownCallback[]): Promise<void> {
  return printTable(
    context,
    [
      { title: 'callbackid', right: true, cell: ({ callbackid }) => callbackid },
      { title: 'event', cell: ({ event }) => event },
      { title: 'verified', cell: ({ verified }) => (verified ? 'yes' : 'no') },
      { title: 'own', dropOrder: 1, cell: ({ own }) => (own ? 'yes' : 'no') },
      { title: 'uri', dropOrder: 2, cell: ({ uri }) => uri },
    ],
    callbacks,
  );
}

export async function isOwn(
  { mirror, secrets }: Installation,
  account: string,
): Promise<(callback: Callback) => boolean> {
  const known = new Set((await mirror.callbacks.knownCallbacks(account)).map(({ callbackid }) => callbackid));
  const { current, previous } = await secrets.verifiers.addressTokens(account);
  const isIn = (uri: string, token: Secret | undefined): boolean => !!token && containsToken(uri, account, token);
  return ({ callbackid, uri }) => known.has(callbackid) || isIn(uri, current) || isIn(uri, previous);
}

/** What the files hold about one of our callbacks. */
interface OwnCallback {
  /** A new code is about to be asked for: the listener takes only codes that are awaited. */
  awaitCode(): Promise<void>;
  /** The service has sent a new code, and delivers nothing before it comes back. */
  unverified(): Promise<void>;
  /** The service has accepted the code: signatures are made with it from now on. */
  proven(code: Secret): Promise<void>;
  deleted(): Promise<void>;
}

/** What the files hold about a callback that the service lists; undefined if another program registered it. */
async function ownCallback(
  context: ProcessContext,
  installation: Installation,
  account: string,
  callbackid: number,
): Promise<OwnCallback | undefined> {
  const { mirror, secrets, settings } = installation;
  const { verifiers } = secrets;
  const { current: pathToken, previous: previousToken } = await verifiers.addressTokens(account);
  const ownCallbacks = new OwnCallbacks({
    accountId: account,
    publicUrl: settings.listener.publicUrl ?? '',
    ...{ pathToken, previousToken },
    callbacks: installation.account(account).client.callbacks,
    mirror,
    verifiers,
    log: silentLog,
    asking: { fetch: context.fetch, clock: context.clock, isOfMirror: (process) => mirror.place.isThere(process) },
  });
  await ownCallbacks.refresh(context.interrupted);
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
      if (isAboutVendors(callback.event)) await mirror.callbacks.proven(account);
      await see(true);
    },
    async deleted() {
      await ownCallbacks.forget(callbackid);
      await ownCallbacks.record();
    },
  };
}
