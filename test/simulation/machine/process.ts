/** One process: what the daemon runs for its accounts, without its sockets. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AccountServices } from '../../../src/app/account-services.ts';
import { daemonServices } from '../../../src/app/daemon.ts';
import { Metrics } from '../../../src/admin/metrics.ts';
import type { Random } from '../../../src/domain/clock.ts';
import { parseSettings, type Settings } from '../../../src/settings/parse.ts';
import { openInstallation, type Installation } from '../../../src/app/installation.ts';
import { startAll, stopAll } from '../../../src/domain/concurrency.ts';
import { silentLog } from '../../../src/domain/log.ts';
import { seededRandom, seedOf } from '../../../src/sandbox/core/random.ts';
import type { Verdict } from '../../../src/store/acceptance.ts';
import type { RunReport } from '../../../src/sync/run.ts';
import type { PathTokens } from '../../../src/webhook/address.ts';
import { DeliveryReceiver } from '../../../src/webhook/delivery-receiver.ts';
import { namedProcess } from '../../support/mirror-file.ts';
import type { Meetings } from './meetings.ts';
import type { ProcessClock } from './process-clock.ts';
import { accounts, publicUrl, token } from '../plan/accounts.ts';
import type { Plan } from '../plan/plan.ts';
import type { Store } from '../../../src/store/mirror.ts';

const root = new URL('../../..', import.meta.url).pathname;
const metrics = new Metrics();

/** Minutes between two reconciliations. */
export const interval = 5;

export interface DaemonOptions {
  readonly plan: Plan;
  readonly settings: Settings;
  /** Which process of the installation this is, from 1. */
  readonly number: number;
  readonly clock: ProcessClock;
  readonly fetch: typeof globalThis.fetch;
  /** Receives the name by which others know the process, before it does anything. */
  readonly onNamed: (name: string) => void;
  readonly onRun: (report: RunReport) => void;
  /** Receives the verdict on every reading. */
  readonly onVerdict: (kind: Verdict['kind'], accountId: string, vendorid: number) => void;
  readonly meetings: Meetings;
}

export interface Daemon {
  readonly number: number;
  readonly clock: ProcessClock;
  readonly installation: Installation;
  readonly supervisors: AccountServices['supervisors'];
  readonly receiver: DeliveryReceiver;
  readonly tokens: PathTokens;
  /** Milliseconds until a schedule begins a run; 0 while one is under way. */
  untilNextRun(): number;
  stop(): Promise<void>;
}

/** What is the same for every seed is read once. */
const settled = parseSettings({
  defaults: readFileSync(join(root, 'config/default.yaml'), 'utf8'),
  name: 'settings',
  env: {},
  readFile: String,
  text: JSON.stringify({
    accounts,
    service: { baseUrl: 'https://service.example', auth: { accessToken: token } },
    listener: { publicUrl },
    schedule: { reconcile: `*/${interval} * * * *` },
  }),
});
/** The settings of a plan, without the place of the mirror. */
export function settingsOf(plan: Plan): Settings {
  const { service, sync } = settled;
  return {
    ...settled,
    accounts: settled.accounts.slice(0, plan.accounts),
    service: {
      ...service,
      paging: { ...service.paging, perPage: plan.rows, concurrency: plan.concurrency },
      extraWalks: plan.extraWalks,
      rateLimit: { ...service.rateLimit, all: { requests: plan.vendorsRate, per: 60_000 } },
    },
    sync: { ...sync, breaker: { ...sync.breaker, vendors: plan.breaker } },
  };
}

/** Opens the files and runs, as `serve` does. @throws MirrorError as opening does. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { plan, settings, number, clock, fetch, onRun } = options;
  const seeded = seededRandom(seedOf(plan.seed, 'dice', number));
  const random: Random = {
    bytes: (count) => Uint8Array.from({ length: count }, () => seeded.below(256)),
    fraction: () => seeded.fraction(),
  };
  const installation = await openInstallation(settings, {
    clock,
    random,
    fetch,
    log: silentLog,
    lockProcess: namedProcess(`life ${number}`, (name) => name === `life ${number}`),
    migrations: join(root, 'migrations'),
  });
  options.onNamed(installation.mirror.place.process.name);
  observeVerdicts(installation.mirror, options.onVerdict);
  options.meetings.observe(installation.mirror);
  const running = await daemonServices({
    installation,
    metrics,
    clock,
    random,
    fetch,
    log: silentLog,
    onRun: (_, report) => onRun(report),
  });
  const { accounts: served, receiving } = running;
  const services = [...running.services, ...running.working()];
  const { supervisors } = served;
  await startAll(services);
  const untilNext = (kind: 'pull' | 'reconcile'): number => (served.next(kind) ?? clock.now()) - clock.now();
  return {
    number,
    clock,
    installation,
    supervisors,
    receiver: new DeliveryReceiver(receiving),
    tokens: receiving.tokens,
    untilNextRun: () => Math.min(untilNext('pull'), untilNext('reconcile')),
    async stop() {
      await stopAll(services);
      await installation.close();
    },
  };
}

/** Listens to what readings do, without changing them. */
function observeVerdicts({ readings }: Store, onVerdict: DaemonOptions['onVerdict']): void {
  const applyPages = readings.applyPages.bind(readings);
  const applyReading = readings.applyReading.bind(readings);
  const observed: Pick<Store['readings'], 'applyPages' | 'applyReading'> = {
    async applyPages(...values) {
      const applied = await applyPages(...values);
      for (const verdicts of applied)
        for (const [vendorid, { kind }] of verdicts) onVerdict(kind, values[1].accountId, vendorid);
      return applied;
    },
    async applyReading(...values) {
      const verdict = await applyReading(...values);
      const [{ row }, { accountId }] = values;
      onVerdict(verdict.kind, accountId, row.vendorid);
      return verdict;
    },
  };
  Object.assign(readings, observed);
}
