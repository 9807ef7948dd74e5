/** `deliveries list` and `retry`: the journal of received webhooks, and what was given up, to be read again. */
import { age, parseInstant } from '../domain/clock.ts';
import { parseDuration } from '../domain/duration.ts';
import { exitStatus, MirrorError } from '../domain/errors.ts';
import { listDeliveries, type DeliveryList } from '../store/deliveries.ts';
import type { DeliveryOutcome } from '../store/sql/schema.ts';
import { loadSettings } from './load-settings.ts';
import { changeExisting, queryMirror } from './open-mirror.ts';
import { withSettings, type CommandHandler } from './process/command.ts';
import type { ProcessContext } from './process/process-context.ts';
import { printJson, printNotice, printText } from './terminal/print.ts';
import { printTable } from './terminal/table.ts';
import { visible } from './terminal/text.ts';

interface ListOptions {
  readonly outcome?: DeliveryOutcome;
  readonly vendor?: number;
  readonly since?: string;
  readonly limit: number;
}

export const deliveriesList: CommandHandler<ListOptions> = async (call) => {
  const { context, options } = call;
  const { account, outcome, vendor: vendorid, limit } = options;
  const since = options.since === undefined ? undefined : startOfRange(options.since, context.clock.now());
  const found = await queryMirror(context, await loadSettings(call), (snapshot) =>
    listDeliveries(snapshot, { account, outcome, vendorid, since, limit }),
  );
  if (options.json) printJson(context, { ok: true, ...(found ?? { total: 0, deliveries: [] }) });
  else if (found) await printDeliveries(context, found);
  return exitStatus.done;
};

async function printDeliveries(context: ProcessContext, { total, deliveries }: DeliveryList): Promise<void> {
  if (deliveries.length > 0)
    await printTable(
      context,
      [
        { title: 'id', right: true, dropOrder: 2, cell: ({ id }) => id },
        { title: 'account', dropOrder: 4, cell: ({ account_id }) => account_id },
        { title: 'received', cell: ({ received_at }) => age(context.clock, received_at) },
        { title: 'event', dropOrder: 3, cell: ({ name }) => name },
        { title: 'object', right: true, cell: ({ object_id }) => object_id },
        { title: 'outcome', cell: ({ outcome }) => outcome },
        { title: 'settled', dropOrder: 1, cell: ({ settled_at }) => settled_at && age(context.clock, settled_at) },
      ],
      deliveries,
    );
  printNotice(context, countOf(total, deliveries.length));
}

function countOf(total: number, shown: number): string {
  if (total === 0) return 'No deliveries.';
  const deliveries = total === 1 ? 'delivery' : 'deliveries';
  return shown < total ? `${shown} of ${total} ${deliveries}; more with --limit.` : `${total} ${deliveries}.`;
}

export const deliveriesRetry: CommandHandler<{ readonly vendor?: number }> = async (call) => {
  const { context, options } = call;
  const settings = await loadSettings(call);
  const marked = await changeExisting(context, settings, async ({ deliveries }) => {
    let count = 0;
    for (const account of settings.accounts)
      count += await deliveries.retryParked({ account, vendorid: options.vendor });
    return count;
  });
  if (options.json) printJson(context, { ok: true, marked: marked ?? 0 });
  else if (marked !== undefined) printText(context, withSettings(context, sentence(marked)));
  return exitStatus.done;
};

function sentence(marked: number): string {
  if (marked === 0) return 'Nothing is parked.';
  const vendors = marked === 1 ? 'One vendor is' : `${marked} vendors are`;
  return `${vendors} marked to be read again: by the running daemon, or by the next \`vendor-mirror reconcile\`.`;
}

/**
 * `12h` ago, or a moment such as `2026-11-20` or `2026-11-20 09:00:00`, UTC; in milliseconds since 1970.
 * @throws MirrorError `usage` for anything else.
 */
function startOfRange(text: string, now: number): number {
  const ago = parseDuration(text);
  // Longer ago than all dates, the beginning of 1970 is early enough.
  if (ago !== undefined) return Math.max(0, now - ago);
  const moment = /^\d{4}-\d{2}-\d{2}/.test(text) ? parseInstant(text) : undefined;
  if (moment !== undefined) return moment;
  throw new MirrorError('usage', `--since takes 30m, 12h, 7d or a moment in UTC, not "${visible(text)}".`);
}
