/** What the operator's pages show, gathered from the mirror and from what runs. */
import type { AccountFacts, HealthFacts, HealthSource } from './admin/health.ts';
import type { AccountDesk } from './account-desk.ts';
import type { Mirror } from './store/mirror.ts';

export interface HealthParts {
  readonly version: string;
  readonly startedAt: number;
  readonly mirror: Mirror;
  readonly desks: ReadonlyMap<string, AccountDesk>;
  readonly machine: () => HealthFacts['process'];
  readonly next: () => HealthFacts['next'];
}

/** Runs of each account that are told. */
const latestRuns = 8;

export function healthSource({ version, startedAt, mirror, desks, machine, next }: HealthParts): HealthSource {
  return {
    async facts() {
      const accounts: AccountFacts[] = [];
      for (const report of await mirror.reports(latestRuns)) {
        const desk = desks.get(report.account);
        if (!desk) continue;
        const { oldestMark, lastDelivery, days } = await mirror.hearing(report.account);
        accounts.push({ ...report, oldestMark, lastDelivery, days, watchdog: desk.watchdog, doubt: desk.doubt });
      }
      const files = mirror.files() ?? { databaseBytes: 0, walBytes: 0 };
      return { version, startedAt, accounts, files, process: machine(), next: next() };
    },
  };
}
