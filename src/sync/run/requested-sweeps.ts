/** Runs the sweeps that deliveries request, as soon as each is due. Woken by deliveries. */
import { asMirrorError } from '../../domain/errors.ts';
import type { Service } from '../../domain/lifecycle.ts';
import { ArrivalSignal } from '../../domain/async/arrival-signal.ts';
import { background } from '../../domain/async/background.ts';
import { sharedWait } from '../../domain/async/shared-wait.ts';
import type { SyncAccount } from '../account/sync-account.ts';
import { untilDue } from './sweep-request.ts';

/** The longest wait, in milliseconds: clocks may jump, and other processes may request sweeps too. */
const longestWait = 30_000;

export class RequestedSweeps implements Service {
  readonly name: string;
  readonly #account: SyncAccount;
  readonly #sweep: () => Promise<unknown>;
  readonly #wakeUps = new ArrivalSignal();
  readonly #background: Service;

  /** `sweep` runs a sweep that begins after the call. */
  constructor(account: SyncAccount, sweep: () => Promise<unknown>) {
    this.name = `requested sweeps of ${account.accountId}`;
    this.#account = account;
    this.#sweep = sweep;
    this.#background = background(this.name, (signal) => this.#run(signal));
  }

  start(): Promise<void> {
    return this.#background.start();
  }

  stop(): Promise<void> {
    return this.#background.stop();
  }

  /** A sweep may have been requested. */
  wake(): void {
    this.#wakeUps.notify();
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const wakeUpsBefore = this.#wakeUps.count;
      const wait = await this.#untilNext();
      if (wait > 0) await this.#wait(wakeUpsBefore, wait, signal);
      else if (!(await this.#sweepOnce(signal))) await this.#wait(wakeUpsBefore, longestWait, signal);
    }
  }

  async #untilNext(): Promise<number> {
    const { mirror, accountId } = this.#account;
    try {
      const request = await mirror.sweepRequests.sweepRequest(accountId);
      return request ? untilDue(this.#account, request, mirror.moment()) : longestWait;
    } catch {
      // The file is locked or gone; other users of it report that.
      return longestWait;
    }
  }

  /** @returns whether the sweep ran. */
  async #sweepOnce(signal: AbortSignal): Promise<boolean> {
    const { log, accountId } = this.#account;
    try {
      await this.#sweep();
      return true;
    } catch (error) {
      if (!signal.aborted)
        log.warn({ account: accountId, err: asMirrorError(error) }, 'a sweep that deliveries requested failed');
      return false;
    }
  }

  /** Waits `ms` milliseconds, or until there were more wake-ups than before. */
  async #wait(wakeUpsBefore: number, ms: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#account;
    const wait = Math.min(sharedWait(clock, longestWait), ms);
    await this.#wakeUps.waitForMore(wakeUpsBefore, wait, clock, signal).catch(() => undefined);
  }
}
