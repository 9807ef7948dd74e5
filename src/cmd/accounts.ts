/**
 * `accounts list`, `add`, `remove`, `pause` and `resume`: which accounts are mirrored, beside those of the settings.
 */
import { inOrder } from '../domain/concurrency.ts';
import { age } from '../domain/clock.ts';
import { exitStatus, MirrorError } from '../domain/errors.ts';
import { vendorCounts } from '../health/status-document.ts';
import { defaultConnection, withKept, type Settings } from '../settings/parse.ts';
import { accountIdInstead, connectionNameOf } from '../settings/shape.ts';
import { accountSummaries } from '../store/account-reports.ts';
import { keptAccountsOf } from '../store/places/place.ts';
import { loadSettings, settingsOfFile } from './load-settings.ts';
import { changeExisting, changeMirror, isDaemonThere, queryMirror } from './open-mirror.ts';
import type { Call, CommandHandler } from './process/command.ts';
import { answered, printJson } from './terminal/print.ts';
import { printTable } from './terminal/table.ts';
import { visible } from './terminal/text.ts';

interface ListedAccount {
  readonly account: string;
  readonly from: 'settings' | 'added';
  readonly connection: string;
  /** Since when it is paused; null where it is not. */
  readonly paused_since: string | null;
  /** The moment up to which everything is in the mirror; null before the first complete sweep. */
  readonly as_of: string | null;
  readonly active_vendors: number;
  /** How many vendors that the service counts and does not show a person accepted. */
  readonly accepted_unreadable: number;
}

export const accountsList: CommandHandler = async (call) => {
  const { context, options } = call;
  const settings = await loadSettings(call);
  const inFile = new Set(settings.accountsOfFile.map(({ id }) => id));
  const held = await queryMirror(context, settings, (snapshot) => {
    const summary = accountSummaries(snapshot, 0);
    return inOrder(settings.accounts, (account) => summary(account));
  });
  const heldOf = new Map(held?.map((report) => [report?.account, report]));
  const accounts = settings.accounts.map((account): ListedAccount => {
    const report = heldOf.get(account);
    return {
      account,
      from: inFile.has(account) ? 'settings' : 'added',
      connection: connectionNameOf(settings, account),
      paused_since: report?.freshness.paused_since ?? null,
      as_of: report?.freshness.safe_as_of ?? report?.freshness.listed_as_of ?? null,
      active_vendors: vendorCounts(report?.counts ?? []).active,
      accepted_unreadable: report?.acceptedUnreadable ?? 0,
    };
  });
  if (options.json) printJson(context, { ok: true, accounts });
  else
    await printTable(
      context,
      [
        { title: 'account', cell: ({ account }) => account },
        { title: 'from', dropOrder: 2, cell: ({ from }) => from },
        { title: 'connection', dropOrder: 1, cell: ({ connection }) => connection },
        { title: 'state', dropOrder: 3, cell: ({ paused_since }) => (paused_since === null ? 'served' : 'paused') },
        { title: 'as of', cell: ({ as_of }) => (as_of === null ? 'never' : age(context.clock, as_of)) },
        { title: 'active vendors', right: true, cell: ({ active_vendors }) => active_vendors },
        ...(accounts.some(({ accepted_unreadable }) => accepted_unreadable > 0)
          ? [
              {
                title: 'accepted unreadable',
                right: true,
                dropOrder: 4,
                cell: ({ accepted_unreadable }: ListedAccount) => accepted_unreadable,
              },
            ]
          : []),
      ],
      accounts,
    );
  return exitStatus.done;
};

export const accountsAdd: CommandHandler<{ readonly connection?: string }> = async (call) => {
  const { context, options } = call;
  const { settings, account } = await addable(call);
  const connection = options.connection ?? defaultConnection;
  refuseUnknown(settings, connection);
  const alike = settings.accounts.find((id) => id !== account && id.toLowerCase() === account.toLowerCase());
  if (alike !== undefined)
    throw new MirrorError(
      'usage',
      `${account} differs from the account ${alike} only in the case of letters: where the service takes both for one, each vendor would be mirrored, and owed, twice.`,
    );
  if (!(await changeMirror(context, settings, ({ accountRegister }) => accountRegister.add(account, connection))))
    throw new MirrorError('usage', `${account} was already added; \`vendor-mirror accounts list\` shows it.`);
  const daemon_running = await isDaemonThere(context, settings);
  const next = daemon_running
    ? 'The running daemon serves it from now on.'
    : `Run \`vendor-mirror sync --account ${account}\`, or start the daemon.`;
  return answered(call, { account, connection, daemon_running }, `${account} is added. ${next}`);
};

export const accountsRemove: CommandHandler = async (call) => {
  const { context } = call;
  const { settings, account } = await addable(call);
  const removed = await changeExisting(context, settings, async ({ accountRegister, callbacks }) =>
    (await accountRegister.remove(account)) ? callbacks.knownCallbacks(account) : undefined,
  );
  if (!removed)
    throw new MirrorError('usage', `${account} was not added; \`vendor-mirror accounts list\` shows what was.`);
  const daemon_running = await isDaemonThere(context, settings);
  const callbacks = removed.map(({ callbackid }) => callbackid);
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
  return answered(call, { account, callbacks, daemon_running }, lines.join('\n'));
};

export const accountsPause: CommandHandler = async (call) => {
  const { context } = call;
  const { settings, account } = await named(call);
  if (!settings.namedAccounts.includes(account))
    throw new MirrorError('usage', `The settings do not name ${account}, and it was not added.`);
  const changed = await changeMirror(context, settings, ({ accountRegister }) => accountRegister.pause(account));
  const daemon_running = await isDaemonThere(context, settings);
  const text = changed
    ? `${account} is paused: nothing is requested from the service about it, and its deliveries are stored. \`vendor-mirror accounts resume ${account}\` resumes it.`
    : `${account} is already paused.`;
  return answered(call, { account, changed, daemon_running }, text);
};

export const accountsResume: CommandHandler = async (call) => {
  const { context } = call;
  const { settings, account } = await named(call);
  const resumed = await changeExisting(context, settings, ({ accountRegister }) => accountRegister.resume(account));
  const changed = resumed ?? false;
  const daemon_running = await isDaemonThere(context, settings);
  const next = daemon_running
    ? 'The running daemon reads the vendors that were delivered meanwhile and sweeps the account.'
    : `Run \`vendor-mirror sync --account ${account}\`, or start the daemon.`;
  const text = changed ? `${account} is resumed. ${next}` : `${account} was not paused.`;
  return answered(call, { account, changed, daemon_running }, text);
};

/** The account that the command is about. @throws MirrorError `usage` where it is no account id, or `--account` names another one. */
async function named(call: Call): Promise<{ readonly settings: Settings; readonly account: string }> {
  const inFile = settingsOfFile(call);
  const settings = withKept(inFile, await keptAccountsOf(inFile));
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
async function addable(call: Call): Promise<ReturnType<typeof named>> {
  const { settings, account } = await named(call);
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
