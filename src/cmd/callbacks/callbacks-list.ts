/** `callbacks list`: all callbacks in the service, those of other programs included. */
import { exitStatus } from '../../domain/errors.ts';
import { callbackTable, shownCallback } from './callback-text.ts';
import type { CommandHandler } from '../process/command.ts';
import { oneAccount } from '../setup/one-account.ts';
import { isOwn } from '../setup/registered-callback.ts';
import { print, printJson, printNotice } from '../terminal/print.ts';
import { loadSettings } from '../setup/load-settings.ts';
import { withInstallation } from '../setup/with-installation.ts';

interface ListOptions {
  readonly event?: string;
  readonly uri?: string;
  readonly verified?: 'true' | 'false';
}

export const callbacksList: CommandHandler<ListOptions> = async (call) => {
  const { context, options } = call;
  const settings = loadSettings(call);
  const account = oneAccount(settings);
  const { event, uri } = options;
  const verified = options.verified && options.verified === 'true';
  const callbacks = await withInstallation(call, settings, async (installation) => {
    const { client } = installation.account(account);
    const listed = await client.callbacks.list({ event, uri, verified }, { signal: context.interrupted });
    const own = await isOwn(installation, account);
    return listed.map((callback) => shownCallback(callback, own(callback)));
  });
  if (options.json) printJson(context, { ok: true, account, callbacks });
  else if (callbacks.length > 0) print(context, await callbackTable(context, callbacks));
  else printNotice(context, 'No callbacks.');
  return exitStatus.done;
};
