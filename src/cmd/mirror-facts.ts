/**
 * What `status` and `doctor` judge a mirror by.
 *
 * They come from the files alone, so that `status` needs no daemon and no token. So it cannot know that a daemon has been in doubt since its
 * machine slept, and it lists accounts of other settings files on the same mirror, which a daemon does not serve.
 */
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import {
  connectionFacts,
  publicationStatuses,
  targetStatuses,
  type AccountFacts,
  type HealthFacts,
} from '../health/judge.ts';
import type { Settings } from '../settings/parse.ts';
import { connectionNameOf } from '../settings/shape.ts';
import { inOrder } from '../domain/concurrency.ts';
import type { MirrorError } from '../domain/errors.ts';
import { processesAt } from '../store/files/locks.ts';
import { listenerMovedAt, otherService, serviceOf } from '../store/files/identity.ts';
import { settingsFileOf } from '../store/files/own-files.ts';
import type { Reader } from '../store/reader.ts';
import { accountStates, connectionFailures, runsShown, unknownState } from '../store/account-reports.ts';
import { accountIds, accountsNotServed } from '../store/reports/known-accounts.ts';
import { publicationReports } from '../store/publications.ts';
import { targetReports } from '../store/reports/outbox-report.ts';
import { carriersOf } from '../store/runs.ts';
import { freeBytes, noSpaceForDelivery, readOnly, sharedPlace } from '../store/sqlite/file-systems.ts';
import { movedTo } from '../webhook/address.ts';
import type { ProcessContext } from './process/process-context.ts';
import { packageVersion } from './version.ts';

/** As far as the files tell: what a running daemon alone knows is left open. */
export async function mirrorFacts(
  context: ProcessContext,
  settings: Settings,
  mirror: Reader | undefined,
  account: string | undefined,
): Promise<HealthFacts> {
  const { database, admin, connections, listener, namedAccounts, notify, sandbox } = settings;
  const shown = (ids: readonly string[]): string[] => ids.filter((id) => account === undefined || id === account);
  const names = await mirror?.query(async (snapshot) =>
    (await inOrder(shown(await accountIds(snapshot)), carriersOf(snapshot, runsShown))).flat(),
  );
  const there = settings.postgres ? await mirror?.place.processes() : processesAt(database);
  const startedAt = there?.daemonSince ?? null;
  const carriers = new Map([...new Set(names)].map((name) => [name, there?.isAlive(name)]));
  const found = await mirror?.query(async (snapshot) => {
    const state = accountStates(snapshot, context.clock);
    const left = await accountsNotServed(snapshot, { accounts: namedAccounts, settingsFile: settingsFileOf(settings) });
    return {
      accounts: (await inOrder(shown(await accountIds(snapshot)), (id) => state(id, carriers)))
        .filter((known) => known !== undefined)
        .map((known) => ({ ...known, isLeft: left.has(known.account) })),
      failures: await connectionFailures(snapshot),
      targets: await targetReports(snapshot),
      publications: await publicationReports(snapshot),
      moved: await listenerMovedAt(snapshot),
      service: await serviceOf(snapshot),
    };
  });
  const { accounts = [], failures = [], targets = [], publications = [], moved = null, service = null } = found ?? {};
  const named = new Set(namedAccounts);
  const unknown = settings.accounts
    .filter((id) => named.has(id) && accounts.every((known) => known.account !== id))
    .map((id) => ({ ...unknownState(id), isLeft: false }));
  const isAwaited = startedAt !== null && (listener.publicUrl !== null || sandbox !== null);
  const connectionOf = (id: string): string => connectionNameOf(settings, id);
  // The disk of a server is not this machine's.
  const free = settings.postgres ? Infinity : freeBytes(existing(dirname(resolve(database))));
  const trouble =
    otherService(service, settings.service, database) ??
    (settings.postgres ? undefined : troubleOfFile(database, { isThere: mirror !== undefined, free })) ??
    // A lock matters where a daemon has to store deliveries.
    (startedAt === null ? undefined : mirror?.place.heldLock()) ??
    null;
  const targetNames = notify.map(({ name }) => name);
  return {
    version: packageVersion(context.packageRoot),
    ...{ database, startedAt, isSandbox: sandbox !== null },
    maxStaleness: admin.maxStaleness,
    accounts: [...accounts, ...unknown].map((known): AccountFacts => ({
      ...known,
      awaitsDeliveries: isAwaited || known.callbacks.length > 0,
      movedTo: movedTo(listener.publicUrl, known.account, known.callbacks),
      progress: null,
      doubt: null,
    })),
    connections: connectionFacts([...connections.keys()], connectionOf, namedAccounts, failures),
    ability: { listening: null, trouble, diskFreeBytes: free, work: null },
    listenerMovedAt: moved,
    publications: publicationStatuses(settings.publish, publications),
    targets: targetStatuses(targetNames, targets, context.clock.now()),
    files: (await mirror?.place.sizes()) ?? { databaseBytes: 0, walBytes: 0 },
    serving: settings.postgres ? (there?.serving ?? []) : null,
    process: null,
    next: { pull: undefined, reconcile: undefined },
  };
}

/** Why nothing can be written to the file; undefined while it can. */
function troubleOfFile(
  path: string,
  { isThere, free }: { readonly isThere: boolean; readonly free: number },
): MirrorError | undefined {
  return (isThere ? sharedPlace(path, path) : undefined) ?? readOnly(path) ?? noSpaceForDelivery(free);
}

/** The folder, or the nearest one above it that is there. */
function existing(folder: string): string {
  return existsSync(folder) ? folder : existing(dirname(folder));
}
