/** What runs for one account: its supervisor and the schedules of its runs. It starts once; an account that was paused gets a new one. */
import { sleptThrough, type Random } from '../domain/clock.ts';
import { asMirrorError } from '../domain/errors.ts';
import { stopAll, type Service } from '../domain/lifecycle.ts';
import type { Slots } from '../schedule/cron-slots.ts';
import { OffsetSlots } from '../schedule/offset-slots.ts';
import { Schedule } from '../schedule/schedule.ts';
import { AccountSupervisor, type AccountSupervisorOptions } from './account-supervisor.ts';

export type ScheduleKind = 'pull' | 'reconcile';

export interface AccountRunnerOptions extends AccountSupervisorOptions {
  readonly random: Random;
  /** When the runs of all accounts are due. */
  readonly slots: Readonly<Record<ScheduleKind, Slots>>;
  /** Whether it is the only account: with several, each has its own offset from the schedule. */
  readonly isAlone: boolean;
  /** Wall time of its last run in an earlier process; undefined if it never ran, or is to run at once. */
  readonly lastRun: number | undefined;
}

/** How long to wait for the service to delete the callbacks of a removed account, in milliseconds. */
const deletionTimeout = 15_000;

export class AccountRunner {
  readonly supervisor: AccountSupervisor;
  readonly reconcile: Schedule;
  readonly pull: Schedule;
  readonly #options: AccountRunnerOptions;

  constructor(options: AccountRunnerOptions) {
    this.#options = options;
    this.supervisor = new AccountSupervisor(options);
    this.reconcile = this.#schedule('reconcile');
    this.pull = this.#schedule('pull');
  }

  /** What runs for several accounts, in the order in which it starts: after the listener, which must be open when the service sends its verification code. */
  static services(runners: readonly AccountRunner[]): Service[] {
    return [
      ...runners.map(({ supervisor }) => supervisor),
      ...runners.map(({ reconcile }) => reconcile),
      ...runners.map(({ pull }) => pull),
    ];
  }

  /**
   * Ends for good: stops all requests, and deletes the callbacks of this installation if the service does that within `deletionTimeout`.
   * @returns how many callbacks were deleted
   */
  async retire(stopping: AbortSignal): Promise<number> {
    const { account, clock, log } = this.#options;
    await stopAll([this.reconcile, this.pull]);
    const timeout = new AbortController();
    const late = sleptThrough(clock, deletionTimeout, AbortSignal.any([timeout.signal, stopping])).then(() => 0);
    const deleted = this.supervisor.subscriptions.unregister().catch((error: unknown) => {
      log.warn(
        { account: account.accountId, err: asMirrorError(error) },
        'the callbacks of a removed account were not deleted',
      );
      return 0;
    });
    const count = await Promise.race([late, deleted]);
    timeout.abort(new Error('The callbacks are deleted.'));
    await stopAll(AccountRunner.services([this]));
    return count;
  }

  #schedule(name: ScheduleKind): Schedule {
    const { account, isAlone, slots, lastRun, clock, random, log } = this.#options;
    return new Schedule({
      name: isAlone ? name : `${name} of ${account.accountId}`,
      slots: isAlone ? slots[name] : new OffsetSlots(slots[name], account.accountId),
      clock,
      random,
      log,
      lastRun,
      run: (signal) => this.supervisor.run(name, 'schedule', signal),
    });
  }
}
