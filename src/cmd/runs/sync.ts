/** `sync` and `reconcile`: every account walked once, its vendors and its gateways. */
import { exitStatus, type ExitStatus } from '../../domain/errors.ts';
import type { Installation, RunSummary } from '../../app/installation.ts';
import type { Call, CommandHandler } from '../process/command.ts';
import { progressOf } from '../terminal/progress.ts';
import { loadSettings } from '../setup/load-settings.ts';
import { withoutPaused } from '../setup/unpaused.ts';
import { errorsOf, printDocument, printSummary, type AccountSync } from './sync-summary.ts';
import { withInstallation } from '../setup/with-installation.ts';
import { highestExit } from '../process/highest-exit.ts';

interface ReconcileOptions {
  /** How many absences a person has allowed. */
  readonly approveAbsences?: number;
}

export const sync: CommandHandler = (call) => walkAll(call, { kind: 'pull' });

export const reconcile: CommandHandler<ReconcileOptions> = (call) =>
  walkAll(call, { kind: 'reconcile', approved: call.options.approveAbsences ?? 0 });

interface Walk {
  readonly kind: RunSummary['kind'];
  readonly approved?: number;
}

async function walkAll(call: Call, walk: Walk): Promise<ExitStatus> {
  const { context, options } = call;
  const settings = withoutPaused(context, loadSettings(call));
  const synced = await withInstallation(call, settings, async (installation) => {
    const ended: AccountSync[] = [];
    for (const account of installation.accounts) {
      if (context.interrupted.aborted) break;
      ended.push(await walkAccount(call, installation, account, walk));
    }
    return ended;
  });
  if (options.json) printDocument(context, settings, synced);
  else await printSummary(context, settings, synced);
  return statusOf(synced, settings.accounts.length);
}

/** Vendors, and then gateways, unless the service could not be worked with at all. */
async function walkAccount(
  { context }: Call,
  installation: Installation,
  account: string,
  walk: Walk,
): Promise<AccountSync> {
  const signal = context.interrupted;
  const progress = progressOf(account, context);
  const run = await installation
    .pull(account, { ...walk, trigger: 'command', signal, onProgress: (report) => progress.show(report) })
    .finally(() => progress.end());
  const findings =
    walk.kind === 'reconcile' ? await installation.mirror.findings.countFindings({ id: run.run_id }) : [];
  if (run.outcome === 'failed' || signal.aborted) return { run, findings };
  return { run, findings, gateways: await installation.pullGateways(account, { signal }) };
}

/** The worst that happened; an account that was not begun is not whole. */
function statusOf(synced: readonly AccountSync[], accounts: number): ExitStatus {
  const statuses = synced.flatMap((one) => [
    one.run.outcome === 'complete' ? exitStatus.done : exitStatus.incomplete,
    ...errorsOf(one).map(({ exit }) => exit),
  ]);
  return highestExit(synced.length < accounts ? [...statuses, exitStatus.incomplete] : statuses);
}
