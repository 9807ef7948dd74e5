/** `accounts add`, `remove`, `pause` and `resume`: what a person says about accounts beside the settings, kept in the mirror. */
import { exitStatus, MirrorError } from '../../domain/errors.ts';
import { accountIdInstead } from '../../settings/account-connections.ts';
import { withKept } from '../../settings/kept-accounts.ts';
import { defaultConnection, type Settings } from '../../settings/parse.ts';
import { daemonSince } from '../../store/files/side-lock.ts';
import { keptAccountsAt } from '../../store/reports/known-accounts.ts';
import type { Call, CommandHandler } from '../process/command.ts';
import { withSettings } from '../process/settings-option.ts';
import { changeMirror, queryMirror } from '../setup/open-mirror.ts';
import { settingsOfFile } from '../setup/load-settings.ts';
import { printText, printJson } from '../terminal/print.ts';
import { visible } from '../terminal/plain-text.ts';

interface AddOptions {
  readonly connection?: string;
}

export const accountsAdd: CommandHandler<AddOptions> = async (call) => {
  const { context, options } = call;
  const { settings, account } = addable(call);
  const connection = options.connection ?? defaultConnection;
  refuseUnknown(settings, connection);
  if (!(await changeMirror(context, settings, ({ accountRegister }) => accountRegister.add(account, connection))))
    throw new MirrorError('usage', `${account} was already added; \`vendor-mirror accounts list\` shows it.`);
  const daemon_running = isDaemonRunning(settings);
  if (options.json) printJson(context, { ok: true, account, connection, daemon_running });
  else {
    const next = daemon_running
      ? 'The running daemon serves it from now on.'
      : `Run \`vendor-mirror sync --account ${account}\`, or start the daemon.`;
    printText(context, withSettings(context, `${account} is added. ${next}`));
  }
  return exitStatus.done;
};

export const accountsRemove: CommandHandler = async (call) => {
  const { context, options } = call;
  const { settings, account } = addable(call);
  const isThere = await queryMirror(context, settings, () => true);
  const removed = isThere
    ? await changeMirror(context, settings, async ({ accountRegister, callbacks }) =>
        (await accountRegister.remove(account)) ? await callbacks.knownCallbacks(account) : undefined,
      )
    : undefined;
  if (!removed)
    throw new MirrorError('usage', `${account} was not added; \`vendor-mirror accounts list\` shows what was.`);
  const daemon_running = isDaemonRunning(settings);
  const callbacks = removed.map(({ callbackid }) => callbackid);
  if (options.json) printJson(context, { ok: true, account, callbacks, daemon_running });
  else {
    const lines = [
      `${account} is removed. Its vendors stay in the mirror, but are no longer updated.`,
      ...(daemon_running
        ? [`The running daemon no longer serves it${callbacks.length > 0 ? ', and deletes its callbacks' : ''}.`]
        : []),
      ...(daemon_running ? [] : callbacks).map(
        (id) =>
          `Its callback ${id} is still registered: \`vendor-mirror callbacks delete ${id} --account ${account}\` deletes it.`,
      ),
    ];
    printText(context, lines.map((line) => withSettings(context, line)).join('\n'));
  }
  return exitStatus.done;
};

export const accountsPause: CommandHandler = async (call) => {
  const { context, options } = call;
  const { settings, account } = named(call);
  if (!settings.namedAccounts.includes(account))
    throw new MirrorError('usage', `The settings do not name ${account}, and it was not added.`);
  const changed = await changeMirror(context, settings, ({ accountRegister }) => accountRegister.pause(account));
  const daemon_running = isDaemonRunning(settings);
  if (options.json) printJson(context, { ok: true, account, changed, daemon_running });
  else {
    const text = changed
      ? `${account} is paused: nothing is requested from the service about it, and its deliveries are stored. \`vendor-mirror accounts resume ${account}\` resumes it.`
      : `${account} is already paused.`;
    printText(context, withSettings(context, text));
  }
  return exitStatus.done;
};

export const accountsResume: CommandHandler = async (call) => {
  const { context, options } = call;
  const { settings, account } = named(call);
  const isThere = await queryMirror(context, settings, () => true);
  const changed = isThere
    ? await changeMirror(context, settings, ({ accountRegister }) => accountRegister.resume(account))
    : false;
  const daemon_running = isDaemonRunning(settings);
  if (options.json) printJson(context, { ok: true, account, changed, daemon_running });
  else {
    const next = daemon_running
      ? 'The running daemon reads the vendors that were delivered meanwhile and sweeps the account.'
      : `Run \`vendor-mirror sync --account ${account}\`, or start the daemon.`;
    printText(
      context,
      withSettings(context, changed ? `${account} is resumed. ${next}` : `${account} was not paused.`),
    );
  }
  return exitStatus.done;
};

/** A daemon checks the mirror every second. */
function isDaemonRunning({ database }: Settings): boolean {
  return daemonSince(database) !== undefined;
}

/** The account that the command is about. @throws MirrorError `usage` where it is no account id, or `--account` names another one. */
function named(call: Call): { readonly settings: Settings; readonly account: string } {
  const inFile = settingsOfFile(call);
  const settings = withKept(inFile, keptAccountsAt(inFile.database));
  const [account = ''] = call.args;
  const instead = accountIdInstead(account);
  if (instead !== undefined) throw new MirrorError('usage', `"${visible(account)}" should be ${instead}.`);
  const { account: other } = call.options;
  if (other !== undefined && other !== account)
    throw new MirrorError(
      'usage',
      `The command names ${account}, and --account ${visible(other)}: leave --account out.`,
    );
  return { settings, account };
}

/** The same for one that is not the settings' own. @throws MirrorError `usage` where it is. */
function addable(call: Call): ReturnType<typeof named> {
  const { settings, account } = named(call);
  if (settings.accountsOfFile.some(({ id }) => id === account))
    throw new MirrorError(
      'usage',
      `The settings name ${account}: change \`accounts\` there, and send the daemon SIGHUP.`,
    );
  return { settings, account };
}

/** Before the first account, service.auth may be unset where every account has a connection with a name. */
function refuseUnknown({ connections, sandbox }: Settings, connection: string): void {
  if (connections.has(connection) || (sandbox && connection === defaultConnection)) return;
  const known = [...connections.keys()].join(', ') || 'none';
  throw new MirrorError(
    'usage',
    connection === defaultConnection
      ? `service.auth is not set: name a connection with --connection; the settings have ${known}.`
      : `The settings have no connection ${visible(connection)}; they have ${known}.`,
  );
}
