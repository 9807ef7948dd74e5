/** Runs the sweeps that deliveries ask for, each as soon as it may begin. It wakes when a delivery came, and when a request falls due. */
import { asMirrorError } from '../../domain/errors.ts';
import type { Service } from '../../domain/lifecycle.ts';
import { ArrivalSignal } from '../../domain/async/arrival-signal.ts';
import { background } from '../../domain/async/background.ts';
import type { Engine } from '../account/engine.ts';
import { untilDue } from './sweep-request.ts';

/** The longest nap, in milliseconds: clocks may jump, and another process may ask too. */
const longestNap = 30_000;

export class RequestedSweeps implements Service {
  readonly name: string;
  readonly #engine: Engine;
  readonly #sweep: () => Promise<unknown>;
  readonly #nudges = new ArrivalSignal();
  readonly #life: Service;

  /** `sweep` runs a sweep that begins after the call. */
  constructor(engine: Engine, sweep: () => Promise<unknown>) {
    this.name = `requested sweeps of ${engine.accountId}`;
    this.#engine = engine;
    this.#sweep = sweep;
    this.#life = background(this.name, (signal) => this.#run(signal));
  }

  start(): Promise<void> {
    return this.#life.start();
  }

  stop(): Promise<void> {
    return this.#life.stop();
  }

  /** A sweep may have been asked for. */
  nudge(): void {
    this.#nudges.ring();
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const heard = this.#nudges.count;
      const wait = await this.#untilNext();
      if (wait > 0) await this.#nap(heard, wait, signal);
      else if (!(await this.#sweepOnce(signal))) await this.#nap(heard, longestNap, signal);
    }
  }

  async #untilNext(): Promise<number> {
    const { mirror, accountId } = this.#engine;
    try {
      const request = await mirror.sweepRequests.sweepRequest(accountId);
      return request ? untilDue(this.#engine, request, mirror.moment()) : longestNap;
    } catch {
      // The file is locked, or was taken away: whoever else needs it says so.
      return longestNap;
    }
  }

  /** @returns whether it could be carried out. */
  async #sweepOnce(signal: AbortSignal): Promise<boolean> {
    const { log, accountId } = this.#engine;
    try {
      await this.#sweep();
      return true;
    } catch (error) {
      if (!signal.aborted)
        log.warn({ account: accountId, err: asMirrorError(error) }, 'a sweep that deliveries asked for failed');
      return false;
    }
  }

  /** Waits, or until a nudge since `heard` of them had come. */
  async #nap(heard: number, ms: number, signal: AbortSignal): Promise<void> {
    await this.#nudges.rung(heard, Math.min(longestNap, ms), this.#engine.clock, signal).catch(() => undefined);
  }
}
