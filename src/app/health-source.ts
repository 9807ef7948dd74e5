/** What the operator's pages show, gathered from the mirror and from what runs. */
import type { AccountSupervisor } from './account-supervisor.ts';
import type { Connections } from './connections.ts';
import type { Clock } from '../domain/clock.ts';
import {
  connectionFacts,
  targetStatuses,
  type Ability,
  type AccountFacts,
  type HealthFacts,
  type HealthSource,
} from '../health/judge.ts';
import type { Secrets } from '../store/secrets/secrets.ts';
import { connectionFailures } from '../store/reports/account-reports.ts';
import { accountsNotServed } from '../store/reports/known-accounts.ts';
import { targetReports } from '../store/outbox/outbox-report.ts';
import type { Store } from '../store/store.ts';

export interface HealthParts {
  readonly version: string;
  readonly startedAt: number;
  readonly maxStaleness: number;
  /** The file that names the accounts. */
  readonly settingsFile: string;
  /** Whether `listener.publicUrl` is set. */
  readonly awaitsDeliveries: boolean;
  readonly mirror: Pick<Store, 'path' | 'accountState' | 'query' | 'trouble' | 'sizes'>;
  /** Names of the targets of outgoing webhooks. */
  readonly targets: readonly string[];
  readonly connections: Pick<Connections, 'names' | 'of'>;
  readonly secrets: Pick<Secrets, 'trouble'>;
  readonly supervisors: ReadonlyMap<string, Pick<AccountSupervisor, 'doubt' | 'progress'>>;
  readonly clock: Pick<Clock, 'now' | 'yield'>;
  readonly listener: { readonly listening: boolean };
  readonly machine: () => HealthFacts['process'];
  readonly next: () => HealthFacts['next'];
}

export function healthSource(parts: HealthParts): HealthSource {
  const { mirror, secrets, supervisors, listener, machine, next, clock } = parts;
  const ability = (): Ability => ({
    listening: listener.listening,
    trouble: mirror.trouble() ?? secrets.trouble() ?? null,
    diskFreeBytes: mirror.sizes().freeBytes,
  });
  return {
    ability,
    async facts() {
      const { version, startedAt, maxStaleness, awaitsDeliveries, settingsFile } = parts;
      const accounts: AccountFacts[] = [];
      const served = [...supervisors.keys()];
      const left = await mirror.query((sqlite) => accountsNotServed(sqlite, { accounts: served, settingsFile }));
      for (const id of [...served, ...left]) {
        const state = await mirror.accountState(id);
        const { doubt, progress } = supervisors.get(id) ?? { doubt: null, progress: null };
        if (state) accounts.push({ ...state, isLeft: !supervisors.has(id), awaitsDeliveries, doubt, progress });
        // Deliveries come first: only one account is handled in each turn of the event loop. In one turn, 1,000 accounts take 0.11 s.
        await clock.yield();
      }
      const failures = await mirror.query(connectionFailures);
      const { names } = parts.connections;
      const connections = connectionFacts(names, (id) => parts.connections.of(id), served, failures);
      const files = mirror.sizes();
      const targets = targetStatuses(parts.targets, await mirror.query(targetReports), clock.now());
      return {
        version,
        database: mirror.path,
        startedAt,
        maxStaleness,
        accounts,
        connections,
        ability: ability(),
        targets,
        files,
        process: machine(),
        next: next(),
      };
    },
  };
}
