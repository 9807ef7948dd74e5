/** What runs for the accounts of an installation while the daemon lives, whatever the sockets around it: desks, schedules and upkeep. */
import { AccountDesk } from './account-supervisor.ts';
import type { Metrics } from '../admin/metrics/metrics.ts';
import { createChores } from './maintenance.ts';
import { parseInstant, timestamp, type Clock, type Dice } from '../domain/clock.ts';
import type { MirrorError } from '../domain/errors.ts';
import { createGapWatch } from './clock-jumps.ts';
import type { Installation } from './installation.ts';
import type { Service } from '../domain/lifecycle.ts';
import type { Log } from '../domain/log.ts';
import { createSchedule, offsetSlots, openSlots, type Schedule } from '../schedule/scheduler.ts';
import type { RunReport } from '../sync/run/run.ts';
import { SweepPermits } from './sweep-permits.ts';
import type { PathTokens } from '../webhook/receive/account-of-path.ts';
import type { ReceptionOptions } from '../webhook/receive/delivery-receiver.ts';

export interface AccountServicesOptions {
  readonly installation: Installation;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly dice: Dice;
  readonly log: Log;
  /** Hears of every run on an account that ended. */
  readonly onRun: (accountId: string, report: RunReport) => void;
  /** Going on would be wrong: the process must end. */
  readonly onFatal: (error: MirrorError) => void;
}

export interface AccountServices {
  readonly desks: ReadonlyMap<string, AccountDesk>;
  /** In the order in which they start: after the listener, so that the service's code finds somebody to answer it. */
  readonly services: readonly Service[];
  /** What receives deliveries for these accounts, and the paths to which they are sent. */
  readonly receiving: ReceptionOptions & { readonly tokens: PathTokens };
  /** Wall time of the next run of any account; undefined while none is awaited. */
  next(kind: ScheduleKind): number | undefined;
}

type ScheduleKind = 'pull' | 'reconcile';

/** Sweeps, of different accounts, that work at once. */
const sweepsAtOnce = 4;

/** Builds all of it; nothing runs yet. */
export async function accountServices(options: AccountServicesOptions): Promise<AccountServices> {
  const { installation, metrics, clock, dice, log, onRun, onFatal } = options;
  const { settings, mirror, secrets } = installation;
  const permits = new SweepPermits(sweepsAtOnce, clock);
  const desks = new Map(
    installation.accounts.map((id) => {
      const account = installation.account(id);
      return [
        id,
        new AccountDesk({ account, installation, clock, log, metrics, permits, onRun: (report) => onRun(id, report) }),
      ];
    }),
  );

  const lastRuns = await mirror.lastCompletes();
  const isAlone = desks.size === 1;
  const schedulesOf = (kind: ScheduleKind): Schedule[] => {
    const slots = openSlots(settings.schedule[kind], settings.schedule.timezone);
    return [...desks].map(([id, desk]) =>
      createSchedule({
        name: isAlone ? kind : `${kind} of ${id}`,
        slots: isAlone ? slots : offsetSlots(slots, id),
        clock,
        dice,
        log,
        lastRun: parseInstant(lastRuns.get(id) ?? ''),
        run: (signal) => desk.run(kind, 'schedule', signal),
      }),
    );
  };
  const schedules = { reconcile: schedulesOf('reconcile'), pull: schedulesOf('pull') };

  return {
    desks,
    services: [
      ...desks.values(),
      permits,
      ...schedules.reconcile,
      ...schedules.pull,
      createGapWatch({
        clock,
        onGap: (ms) => {
          const why = `At ${timestamp(clock.now())} the time had strayed by ${Math.round(ms / 1_000)} s.`;
          log.warn(`${why} Reconciling.`);
          for (const desk of desks.values()) desk.lost(why);
        },
      }),
      createChores({ mirror, secrets, retention: settings.retention, clock, log, onFatal }),
    ],
    receiving: {
      tokens: await secrets.verifiers.pathTokens(installation.accounts),
      clock,
      log,
      mirror,
      verifiers: secrets.verifiers,
      signatureHeader: settings.service.signatureHeader,
      onDelivery: (id) => desks.get(id)?.delivered(),
      onCode: (id) => desks.get(id)?.keeper.codeArrived(),
      onDeaf: (id) => void desks.get(id)?.keeper.resendIfSilent(),
    },
    next: (kind) => earliest(schedules[kind]),
  };
}

function earliest(schedules: readonly Schedule[]): number | undefined {
  let first: number | undefined;
  for (const { next } of schedules) if (next !== undefined && !(first !== undefined && first <= next)) first = next;
  return first;
}
