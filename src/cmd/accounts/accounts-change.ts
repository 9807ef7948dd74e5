/** `accounts add` and `accounts remove`: accounts beside those of the settings, kept in the mirror. */
import { exitStatus, MirrorError } from '../../domain/errors.ts';
import { accountIdInstead } from '../../settings/account-connections.ts';
import { defaultConnection, type Settings } from '../../settings/parse.ts';
import { daemonSince } from '../../store/files/side-lock.ts';
import type { Call, Run } from '../process/command.ts';
import { withSettings } from '../process/settings-option.ts';
import { changeMirror, queryMirror } from '../setup/open-mirror.ts';
import { settingsOfFile } from '../setup/load-settings.ts';
import { print, printJson } from '../terminal/print.ts';
import { visible } from '../terminal/plain-text.ts';

interface AddOptions {
  readonly connection?: string;
}

export const accountsAdd: Run<AddOptions> = async (call) => {
  const { context, options } = call;
  const { settings, account } = named(call);
  const connection = options.connection ?? defaultConnection;
  refuseUnknown(settings, connection);
  if (!(await changeMirror(context, settings, ({ addedAccounts }) => addedAccounts.add(account, connection))))
    throw new MirrorError('usage', `${account} was added before; \`vendor-mirror accounts list\` shows it.`);
  const daemonRuns = daemonSince(settings.database) !== undefined;
  if (options.json) printJson(context, { ok: true, account, connection, daemon_restart_needed: daemonRuns });
  else {
    const next = daemonRuns
      ? 'The running daemon serves it from its next start on: restart it.'
      : `Run \`vendor-mirror sync --account ${account}\`, or start the daemon.`;
    print(context, withSettings(context, `${account} is added. ${next}`));
  }
  return exitStatus.done;
};

export const accountsRemove: Run = async (call) => {
  const { context, options } = call;
  const { settings, account } = named(call);
  const isThere = await queryMirror(context, settings, () => true);
  const removed = isThere
    ? await changeMirror(context, settings, async ({ addedAccounts, callbacks }) =>
        (await addedAccounts.remove(account)) ? await callbacks.knownCallbacks(account) : undefined,
      )
    : undefined;
  if (!removed)
    throw new MirrorError('usage', `${account} was not added; \`vendor-mirror accounts list\` shows what was.`);
  const daemonRuns = daemonSince(settings.database) !== undefined;
  const callbacks = removed.map(({ callbackid }) => callbackid);
  if (options.json) printJson(context, { ok: true, account, callbacks, daemon_restart_needed: daemonRuns });
  else {
    const lines = [
      `${account} is taken out. What the mirror holds of it stays, and is kept fresh no more.`,
      ...(daemonRuns ? ['The running daemon serves it until it is started again: restart it.'] : []),
      ...callbacks.map(
        (id) =>
          `Its callback ${id} is still registered: \`vendor-mirror callbacks delete ${id} --account ${account}\` deletes it.`,
      ),
    ];
    print(context, lines.map((line) => withSettings(context, line)).join('\n'));
  }
  return exitStatus.done;
};

/** The account that the command is about. @throws MirrorError `usage` where it is no account id, the settings name it, or `--account` another one. */
function named(call: Call): { readonly settings: Settings; readonly account: string } {
  const settings = settingsOfFile(call);
  const [account = ''] = call.args;
  const instead = accountIdInstead(account);
  if (instead !== undefined) throw new MirrorError('usage', `"${visible(account)}" should be ${instead}.`);
  const { account: other } = call.options;
  if (other !== undefined && other !== account)
    throw new MirrorError(
      'usage',
      `The command names ${account}, and --account ${visible(other)}: leave --account out.`,
    );
  if (settings.accounts.includes(account))
    throw new MirrorError('usage', `The settings name ${account}: change \`accounts\` there, and restart the daemon.`);
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
