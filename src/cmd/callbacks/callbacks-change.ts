/** `callbacks register|verify|resend|delete`: straight to the service; where the callback is our own, our records follow. */
import type { CallbacksApi } from '../../api/callbacks.ts';
import { exitStatus, MirrorError, type ExitStatus } from '../../domain/errors.ts';
import { Secret } from '../../domain/log.ts';
import type { Callback } from '../../domain/vendor.ts';
import { prompt, isInteractive, readInput } from '../terminal/prompt.ts';
import { callbackTable, shownCallback } from './callback-text.ts';
import type { Call, CommandHandler } from '../process/command.ts';
import { oneAccount } from '../setup/one-account.ts';
import { isOwn, ownCallback, type OwnCallback } from '../setup/registered-callback.ts';
import { print, printJson, printNotice } from '../terminal/print.ts';
import { loadSettings } from '../setup/load-settings.ts';
import { withInstallation } from '../setup/with-installation.ts';

export const callbacksRegister: CommandHandler = async (call) => {
  const [event = '', uri = ''] = call.args;
  return change(
    call,
    ({ callbacks, signal }) => callbacks.register(event, uri, { signal }),
    ({ callbackid }) =>
      `The service sends a code to that address; \`vendor-mirror callbacks verify ${callbackid}\` sends it back.`,
  );
};

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
  return change(call, async ({ callbacks, signal, own }) => {
    const ours = await own(callbackid);
    await callbacks.remove(callbackid, { signal });
    await ours?.deleted();
    return undefined;
  });
};

interface Changing {
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
  const settings = loadSettings(call);
  const account = oneAccount(settings);
  const callback = await withInstallation(call, settings, async (installation) => {
    const { callbacks } = installation.account(account).client;
    const own: Changing['own'] = (callbackid) => ownCallback(installation, account, callbackid, signal);
    const left = await work({ callbacks, signal, own });
    return left && shownCallback(left, (await isOwn(installation, account))(left));
  });
  if (options.json) printJson(context, { ok: true, account, callback: callback ?? null });
  else if (callback) print(context, await callbackTable(context, [callback]));
  else print(context, 'The callback is deleted.');
  if (!options.json && callback && next) printNotice(context, next(callback));
  return exitStatus.done;
}

/** The code from the command line, or better from standard input: arguments can be seen by other users of the machine. */
async function codeOf({ context, args }: Pick<Call, 'context' | 'args'>): Promise<Secret> {
  const [, given = '-'] = args;
  const code = (given === '-' ? await codeFromInput(context) : given).trim();
  if (code === '') throw new MirrorError('usage', 'There is no verification code on standard input.');
  return new Secret(code);
}

function codeFromInput(context: Call['context']): Promise<string> {
  return isInteractive(context) ? prompt(context, 'The verification code:', { hidden: true }) : readInput(context);
}
