/** `notify list`: how far each target of outgoing webhooks is, and what was given up. */
import { age } from '../../domain/age.ts';
import { exitStatus } from '../../domain/errors.ts';
import { targetStatuses, type TargetStatus } from '../../health/judge.ts';
import { inWords } from '../../domain/duration.ts';
import { parkedVendors, targetReports, type ParkedVendor } from '../../store/outbox/outbox-report.ts';
import type { CommandHandler } from '../process/command.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { queryMirror } from '../setup/open-mirror.ts';
import { loadSettings } from '../setup/load-settings.ts';
import { counted } from '../terminal/counted.ts';
import { print, printJson, printNotice } from '../terminal/print.ts';
import { table } from '../terminal/table.ts';

/** Vendors that were given up may be many. */
const mostShown = 100;

export const notifyList: CommandHandler = async (call) => {
  const { context, options } = call;
  const settings = loadSettings(call);
  const found = await queryMirror(context, settings, (snapshot) => ({
    reports: targetReports(snapshot),
    parked: parkedVendors(snapshot, mostShown),
  }));
  const targets = targetStatuses(
    settings.notify.map(({ name }) => name),
    found?.reports ?? [],
    context.clock.now(),
  );
  if (options.json) printJson(context, { ok: true, targets, parked: found?.parked ?? [] });
  else if (targets.length === 0) printNotice(context, 'The settings name no targets of outgoing webhooks (`notify`).');
  else await printText(context, targets, found?.parked ?? []);
  return exitStatus.done;
};

async function printText(
  context: ProcessContext,
  targets: readonly TargetStatus[],
  parked: readonly ParkedVendor[],
): Promise<void> {
  print(
    context,
    await table(
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
    ),
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
