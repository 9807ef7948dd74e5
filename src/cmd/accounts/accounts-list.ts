/** `accounts list`: which accounts are mirrored, and what the mirror holds of each. */
import { vendorCounts } from '../../health/status-document.ts';
import { age } from '../../domain/age.ts';
import { exitStatus } from '../../domain/errors.ts';
import { connectionNameOf } from '../../settings/account-connections.ts';
import { accountSummaries } from '../../store/reports/account-reports.ts';
import type { CommandHandler } from '../process/command.ts';
import { queryMirror } from '../setup/open-mirror.ts';
import { loadSettings } from '../setup/load-settings.ts';
import { print, printJson } from '../terminal/print.ts';
import { table } from '../terminal/table.ts';

interface ListedAccount {
  readonly account: string;
  readonly from: 'settings' | 'added';
  readonly connection: string;
  /** Since when it is paused; null where it is not. */
  readonly paused_since: string | null;
  /** The moment up to which everything is in the mirror; null before the first complete sweep. */
  readonly as_of: string | null;
  readonly active_vendors: number;
}

export const accountsList: CommandHandler = async (call) => {
  const { context, options } = call;
  const settings = loadSettings(call);
  const inFile = new Set(settings.accountsOfFile.map(({ id }) => id));
  const held = await queryMirror(context, settings, (snapshot) => {
    const summary = accountSummaries(snapshot, 0);
    return settings.accounts.flatMap((account) => summary(account) ?? []);
  });
  const heldOf = new Map(held?.map((report) => [report.account, report]));
  const accounts = settings.accounts.map((account): ListedAccount => {
    const report = heldOf.get(account);
    return {
      account,
      from: inFile.has(account) ? 'settings' : 'added',
      connection: connectionNameOf(settings, account),
      paused_since: report?.freshness.paused_since ?? null,
      as_of: report?.freshness.safe_as_of ?? report?.freshness.listed_as_of ?? null,
      active_vendors: vendorCounts(report?.counts ?? []).active,
    };
  });
  if (options.json) printJson(context, { ok: true, accounts });
  else
    print(
      context,
      await table(
        context,
        [
          { title: 'account', cell: ({ account }) => account },
          { title: 'from', dropOrder: 2, cell: ({ from }) => from },
          { title: 'connection', dropOrder: 1, cell: ({ connection }) => connection },
          { title: 'state', dropOrder: 3, cell: ({ paused_since }) => (paused_since === null ? 'served' : 'paused') },
          { title: 'as of', cell: ({ as_of }) => (as_of === null ? 'never' : age(context.clock, as_of)) },
          { title: 'active vendors', right: true, cell: ({ active_vendors }) => active_vendors },
        ],
        accounts,
      ),
    );
  return exitStatus.done;
};
