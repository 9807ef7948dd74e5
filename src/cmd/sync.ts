/** `sync`: everything that the service shows, mirrored once. */
import { join } from 'node:path';
import type { Settings } from '../config.ts';
import { exitStatus, type ExitStatus } from '../errors.ts';
import { openInstallation, type Installation } from '../installation.ts';
import { createLog } from '../log.ts';
import type { Call, Run } from './command.ts';
import type { Edge } from './edge.ts';
import { serviceOf } from './embedded.ts';
import { progressOf } from './progress.ts';
import { loadSettings } from './settings.ts';
import { errorsOf, printDocument, printSummary, type AccountSync } from './sync-summary.ts';
import { thisProcess } from './this-process.ts';

export const sync: Run = async (call) => {
  const { edge, options } = call;
  const { settings, stop } = await serviceOf(loadSettings(call), edge);
  let synced: AccountSync[];
  try {
    synced = await syncAll(call, settings);
  } finally {
    await stop();
  }
  if (options.json) printDocument(edge, synced);
  else await printSummary(edge, settings, synced);
  return statusOf(synced, settings);
};

async function syncAll({ edge, options }: Call, settings: Settings): Promise<AccountSync[]> {
  const installation = await openInstallation(settings, {
    clock: edge.clock,
    dice: edge.dice,
    fetch: edge.fetch,
    log: createLog(options.logLevel ?? 'warn', edge.stderr),
    process: thisProcess,
    migrations: join(edge.packageRoot, 'migrations'),
  });
  const synced: AccountSync[] = [];
  try {
    for (const account of installation.accounts) {
      if (edge.interrupted.aborted) break;
      synced.push(await syncAccount(edge, installation, account));
    }
  } finally {
    await installation.close();
  }
  return synced;
}

/** Vendors, and then gateways, unless the service could not be worked with at all. */
async function syncAccount(edge: Edge, installation: Installation, account: string): Promise<AccountSync> {
  const signal = edge.interrupted;
  const progress = progressOf(account, edge);
  const run = await installation
    .pull(account, { kind: 'pull', trigger: 'command', signal, onProgress: (report) => progress.show(report) })
    .finally(() => progress.end());
  if (run.outcome === 'failed' || signal.aborted) return { run };
  return { run, gateways: await installation.pullGateways(account, { signal }) };
}

/** The worst that happened. */
function statusOf(synced: readonly AccountSync[], { accounts }: Settings): ExitStatus {
  const statuses = synced.flatMap((one) => [
    one.run.outcome === 'complete' ? exitStatus.done : exitStatus.notWhole,
    ...errorsOf(one).map(({ exit }) => exit),
  ]);
  if (synced.length < accounts.length) statuses.push(exitStatus.notWhole);
  return statuses.reduce((worst, status) => (status > worst ? status : worst), exitStatus.done);
}
