/** `deliveries list`: the journal of received webhooks. */
import { age } from '../../domain/age.ts';
import { exitStatus } from '../../domain/errors.ts';
import { listDeliveries, type DeliveryList } from '../../store/reports/delivery-list.ts';
import type { DeliveryOutcome } from '../../store/tables/mirror-tables.ts';
import type { CommandHandler } from '../process/command.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { queryMirror } from '../setup/open-mirror.ts';
import { print, printJson, printNotice } from '../terminal/print.ts';
import { loadSettings } from '../setup/load-settings.ts';
import { startOfRange } from '../options/since.ts';
import { table } from '../terminal/table.ts';

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
  const found = await queryMirror(context, loadSettings(call), (snapshot) =>
    listDeliveries(snapshot, { account, outcome, vendorid, since, limit }),
  );
  if (options.json) printJson(context, { ok: true, ...(found ?? { total: 0, deliveries: [] }) });
  else if (found) await printText(context, found);
  return exitStatus.done;
};

async function printText(context: ProcessContext, { total, deliveries }: DeliveryList): Promise<void> {
  if (deliveries.length > 0)
    print(
      context,
      await table(
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
      ),
    );
  printNotice(context, countOf(total, deliveries.length));
}

function countOf(total: number, shown: number): string {
  if (total === 0) return 'No deliveries.';
  const deliveries = total === 1 ? 'delivery' : 'deliveries';
  return shown < total ? `${shown} of ${total} ${deliveries}; more with --limit.` : `${total} ${deliveries}.`;
}
