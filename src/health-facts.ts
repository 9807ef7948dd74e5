/** What the operator's pages show, gathered from the mirror and from what runs. */
import type { Ability, AccountFacts, HealthFacts, HealthSource } from './admin/health.ts';
import type { AccountDesk } from './account-desk.ts';
import type { Clock } from './clock.ts';
import type { Mirror } from './store/mirror.ts';
import type { WebhookDays } from './store/webhook-days.ts';

export interface HealthParts {
  readonly version: string;
  readonly startedAt: number;
  readonly mirror: Mirror;
  readonly desks: ReadonlyMap<string, AccountDesk>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly listener: { readonly listening: boolean };
  readonly machine: () => HealthFacts['process'];
  readonly next: () => HealthFacts['next'];
}

/** Runs of each account that are told. */
const latestRuns = 8;

/** How long the counts of deliveries may be old, in milliseconds: they change slowly, and counting takes long. */
const countedFor = 60_000;

export function healthSource(parts: HealthParts): HealthSource {
  const { version, startedAt, mirror, desks, listener, machine, next, clock } = parts;
  let counted: { readonly days: WebhookDays; readonly until: number } | undefined;
  const webhookDays = async (): Promise<WebhookDays> => {
    if (!counted || clock.monotonic() >= counted.until)
      counted = { days: await mirror.webhookDays(), until: clock.monotonic() + countedFor };
    return counted.days;
  };
  const ability = (): Ability => ({
    listening: listener.listening,
    unwritable: mirror.unwritable()?.message ?? null,
    diskFreeBytes: mirror.freeBytes(),
  });
  return {
    ability,
    async facts() {
      const accounts: AccountFacts[] = [];
      const days = await webhookDays();
      for (const report of await mirror.reports(latestRuns)) {
        const desk = desks.get(report.account);
        if (!desk) continue;
        const { oldestMark, lastDelivery } = await mirror.hearing(report.account);
        const { watchdog, doubt } = desk;
        accounts.push({ ...report, oldestMark, lastDelivery, days: days.get(report.account) ?? [], watchdog, doubt });
      }
      const files = mirror.files() ?? { databaseBytes: 0, walBytes: 0 };
      return { version, startedAt, accounts, ability: ability(), files, process: machine(), next: next() };
    },
  };
}
