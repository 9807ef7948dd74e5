/** What the operator's pages show, gathered from the mirror and from what runs. */
import { connectionFacts } from '../admin/health/connection-health.ts';
import type { Ability, AccountFacts, HealthFacts, HealthSource } from '../admin/health/health.ts';
import type { AccountSupervisor } from './account-supervisor.ts';
import type { Connections } from './connections.ts';
import type { Clock } from '../domain/clock.ts';
import type { Secrets } from '../store/secrets/secrets.ts';
import { connectionFailures } from '../store/reports/account-reports.ts';
import { targetReports } from '../store/outbox/outbox-report.ts';
import type { Store } from '../store/store.ts';

export interface HealthParts {
  readonly version: string;
  readonly startedAt: number;
  readonly mirror: Pick<Store, 'accountState' | 'query' | 'trouble' | 'sizes'>;
  /** Names of the targets of outgoing webhooks. */
  readonly targets: readonly string[];
  readonly connections: Pick<Connections, 'names' | 'of'>;
  readonly secrets: Pick<Secrets, 'trouble'>;
  readonly supervisors: ReadonlyMap<string, Pick<AccountSupervisor, 'watchdog' | 'doubt' | 'progress'>>;
  readonly clock: Pick<Clock, 'yield'>;
  readonly listener: { readonly listening: boolean };
  readonly machine: () => HealthFacts['process'];
  readonly next: () => HealthFacts['next'];
}

export function healthSource(parts: HealthParts): HealthSource {
  const { version, startedAt, mirror, secrets, supervisors, listener, machine, next, clock } = parts;
  const ability = (): Ability => ({
    listening: listener.listening,
    trouble: (mirror.trouble() ?? secrets.trouble())?.message ?? null,
    diskFreeBytes: mirror.sizes().freeBytes,
  });
  return {
    ability,
    async facts() {
      const accounts: AccountFacts[] = [];
      for (const [id, { watchdog, doubt, progress }] of supervisors) {
        const state = await mirror.accountState(id);
        if (state) accounts.push({ ...state, watchdog, doubt, progress });
        // Deliveries come first: only one account is handled in each turn of the event loop.
        await clock.yield();
      }
      const failures = await mirror.query(connectionFailures);
      const { names } = parts.connections;
      const connections = connectionFacts(names, (id) => parts.connections.of(id), [...supervisors.keys()], failures);
      const files = mirror.sizes();
      const targets = (await mirror.query(targetReports)).filter(({ target }) => parts.targets.includes(target));
      return {
        version,
        startedAt,
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
