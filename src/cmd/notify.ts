/**
 * `notify list`, `retry` and `forget`: the targets of outgoing webhooks, those of the settings and those that the mirror still knows.
 */
import { age } from '../domain/clock.ts';
import { inWords } from '../domain/duration.ts';
import { exitStatus, MirrorError } from '../domain/errors.ts';
import { counted } from '../domain/size.ts';
import { targetStatuses, type TargetStatus } from '../health/judge.ts';
import { parkedVendors, targetReports, type ParkedVendor } from '../store/reports/outbox-report.ts';
import { loadSettings } from './load-settings.ts';
import { changeExisting, changeMirror, queryMirror } from './open-mirror.ts';
import type { CommandHandler } from './process/command.ts';
import type { ProcessContext } from './process/process-context.ts';
import { print, printJson, printNotice, printText } from './terminal/print.ts';
import { printTable, table } from './terminal/table.ts';

/** Vendors that were given up may be many. */
const maxShown = 100;

export const notifyList: CommandHandler = async (call) => {
  const { context, options } = call;
  const settings = await loadSettings(call);
  const found = await queryMirror(context, settings, async (snapshot) => ({
    reports: await targetReports(snapshot),
    parked: await parkedVendors(snapshot, maxShown),
  }));
  const targets = targetStatuses(
    settings.notify.map(({ name }) => name),
    found?.reports ?? [],
    context.clock.now(),
  );
  if (options.json) printJson(context, { ok: true, targets, parked: found?.parked ?? [] });
  else if (targets.length === 0) printNotice(context, 'The settings name no targets of outgoing webhooks (`notify`).');
  else await printTargets(context, targets, found?.parked ?? []);
  return exitStatus.done;
};

async function printTargets(
  context: ProcessContext,
  targets: readonly TargetStatus[],
  parked: readonly ParkedVendor[],
): Promise<void> {
  await printTable(
    context,
    [
      { title: 'target', cell: ({ target }) => target },
      { title: 'state', cell: ({ state }) => state },
      {
        title: 'lag',
        right: true,
        dropOrder: 5,
        cell: (target) => (target.oldest_waiting === null ? 'none' : inWords(target.lag_seconds * 1_000)),
      },
      { title: 'waiting', right: true, dropOrder: 2, cell: ({ waiting }) => waiting },
      { title: 'parked', right: true, dropOrder: 4, cell: ({ parked }) => parked },
      { title: 'last accepted', dropOrder: 1, cell: ({ delivered_at }) => age(context.clock, delivered_at) },
      { title: 'error', dropOrder: 3, cell: ({ last_error }) => last_error },
    ],
    targets,
  );
  if (parked.length === 0) return;
  print(
    context,
    `\n${await table(
      context,
      [
        { title: 'parked for', cell: ({ target }) => target },
        { title: 'account', dropOrder: 3, cell: ({ account_id }) => account_id },
        { title: 'vendor', right: true, cell: ({ vendorid }) => vendorid },
        { title: 'since', dropOrder: 2, cell: ({ since }) => age(context.clock, since) },
        { title: 'attempts', right: true, dropOrder: 1, cell: ({ attempts }) => attempts },
        { title: 'error', cell: ({ last_error }) => last_error },
      ],
      parked,
    )}`,
  );
  const all = targets.reduce((total, target) => total + target.parked, 0);
  if (all > parked.length)
    printNotice(context, `${parked.length} of ${counted(all, 'vendor')} that were given up are shown.`);
}

export const notifyRetry: CommandHandler = async (call) => {
  const { context, options } = call;
  const settings = await loadSettings(call);
  const [wanted] = call.args;
  const known = await queryMirror(context, settings, targetReports);
  const chosen = known?.filter(({ target }) => wanted === undefined || target === wanted) ?? [];
  if (known && wanted !== undefined && chosen.length === 0)
    throw new MirrorError('usage', `There is no target ${wanted}; \`vendor-mirror notify list\` shows them.`);
  const enabled = chosen.filter(({ disabled_at }) => disabled_at !== null).map(({ target }) => target);
  const vendors =
    chosen.length === 0
      ? 0
      : await changeMirror(context, settings, async ({ outbox }) => {
          let woken = 0;
          for (const { target } of chosen) woken += (await outbox.retry(target)) ?? 0;
          return woken;
        });
  if (options.json) printJson(context, { ok: true, vendors, enabled });
  else if (known) printText(context, sentence(vendors, enabled));
  return exitStatus.done;
};

function sentence(vendors: number, enabled: readonly string[]): string {
  if (vendors === 0 && enabled.length === 0) return 'Nothing was given up.';
  const again = enabled.map((target) => `${target} is enabled again.`);
  const sent =
    vendors > 0 ? [`The changes of ${counted(vendors, 'vendor')} are sent again by the running daemon.`] : [];
  return [...again, ...sent].join(' ');
}

export const notifyForget: CommandHandler = async (call) => {
  const { context, options } = call;
  const settings = await loadSettings(call);
  const [target = ''] = call.args;
  if (settings.notify.some(({ name }) => name === target))
    throw new MirrorError(
      'usage',
      `The settings name ${target}: remove it from \`notify\` first, and restart the daemon.`,
    );
  const known = await changeExisting(context, settings, ({ outbox }) => outbox.forget(target));
  if (known === false)
    throw new MirrorError('usage', `There is no target ${target}; \`vendor-mirror notify list\` shows them.`);
  if (options.json) printJson(context, { ok: true, forgotten: known ?? false });
  else if (known) printText(context, `${target} is forgotten.`);
  return exitStatus.done;
};
