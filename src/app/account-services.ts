/** What runs for the accounts of an installation while the daemon lives, whatever the sockets around it: supervisors, schedules and maintenance. */
import type { Store } from '../store/store.ts';
import { AccountSupervisor } from './account-supervisor.ts';
import type { Metrics } from '../admin/metrics/metrics.ts';
import { createMaintenance } from './maintenance.ts';
import { parseInstant, timestamp, type Clock, type Random } from '../domain/clock.ts';
import { createClockJumpDetector } from './clock-jumps.ts';
import type { Installation } from './installation.ts';
import type { Service } from '../domain/lifecycle.ts';
import type { Log } from '../domain/log.ts';
import { createSchedule, offsetSlots, openSlots, type Schedule } from '../schedule/scheduler.ts';
import type { RunReport } from '../sync/run/run.ts';
import { SweepPermits } from './sweep-permits.ts';
import type { PathTokens } from '../webhook/receive/account-of-path.ts';
import type { DeliveryReceiverOptions } from '../webhook/receive/delivery-receiver.ts';

export interface AccountServicesOptions {
  readonly installation: Installation;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Hears of every run on an account that ended. */
  readonly onRun: (accountId: string, report: RunReport) => void;
}

export interface AccountServices {
  readonly supervisors: ReadonlyMap<string, AccountSupervisor>;
  /** In the order in which they start: after the listener, so that the service's code finds somebody to answer it. */
  readonly services: readonly Service[];
  /** What receives deliveries for these accounts, and the paths to which they are sent. */
  readonly receiving: DeliveryReceiverOptions & { readonly tokens: PathTokens };
  /** Wall time of the next run of any account; undefined while none is awaited. */
  next(kind: ScheduleKind): number | undefined;
}

type ScheduleKind = 'pull' | 'reconcile';

/** Sweeps, of different accounts, that work at once. */
const sweepsAtOnce = 4;

/** Builds all of it; nothing runs yet. */
export async function accountServices(options: AccountServicesOptions): Promise<AccountServices> {
  const { installation, metrics, clock, random, log, onRun } = options;
  const { settings, mirror, secrets } = installation;
  const permits = new SweepPermits(sweepsAtOnce, clock);
  const supervisors = new Map(
    installation.accounts.map((id) => {
      const account = installation.account(id);
      return [
        id,
        new AccountSupervisor({
          account,
          installation,
          clock,
          log,
          metrics,
          permits,
          onRun: (report) => onRun(id, report),
        }),
      ];
    }),
  );

  const lastRuns = await mirror.runs.lastCompletes();
  const isAlone = supervisors.size === 1;
  const schedulesOf = (kind: ScheduleKind): Schedule[] => {
    const slots = openSlots(settings.schedule[kind], settings.schedule.timezone);
    return [...supervisors].map(([id, supervisor]) =>
      createSchedule({
        name: isAlone ? kind : `${kind} of ${id}`,
        slots: isAlone ? slots : offsetSlots(slots, id),
        clock,
        random,
        log,
        lastRun: parseInstant(lastRuns.get(id) ?? ''),
        run: (signal) => supervisor.run(kind, 'schedule', signal),
      }),
    );
  };
  const schedules = { reconcile: schedulesOf('reconcile'), pull: schedulesOf('pull') };

  return {
    supervisors,
    services: [
      ...supervisors.values(),
      permits,
      ...schedules.reconcile,
      ...schedules.pull,
      createClockJumpDetector({
        clock,
        onJump: (ms) => {
          const seconds = Math.round(ms / 1_000);
          const why = `At ${timestamp(clock.now())} the clock was found to have jumped by ${seconds} s.`;
          log.warn({ seconds }, 'the clock jumped; all accounts are reconciled');
          for (const supervisor of supervisors.values()) supervisor.lost(why);
        },
      }),
      createMaintenance({ mirror, secrets, retention: settings.retention, clock, log }),
    ],
    receiving: {
      tokens: await secrets.verifiers.pathTokens(installation.accounts),
      clock,
      log,
      mirror: mirror.deliveries,
      verifiers: secrets.verifiers,
      signatureHeader: settings.service.signatureHeader,
      onDelivery: (id) => supervisors.get(id)?.delivered(),
      onCode: (id) => supervisors.get(id)?.subscriptions.codeArrived(),
      onSilence: (id) => void supervisors.get(id)?.subscriptions.resendIfSilent(),
    },
    next: (kind) => earliest(schedules[kind]),
  };
}

function earliest(schedules: readonly Schedule[]): number | undefined {
  let first: number | undefined;
  for (const { next } of schedules) if (next !== undefined && !(first !== undefined && first <= next)) first = next;
  return first;
}

/** Says which callbacks of ours are still registered for accounts that are not served any more. */
export async function nameAbandonedCallbacks({ callbacks }: Pick<Store, 'callbacks'>, log: Log): Promise<void> {
  for (const { accountId, callbackid } of await callbacks.abandonCallbacks())
    log.warn(
      { account: accountId, callbackid },
      `the account ${accountId} is not served any more, and callback ${callbackid} of it is still registered: \`vendor-mirror callbacks delete ${callbackid} --account ${accountId}\` deletes it`,
    );
}
