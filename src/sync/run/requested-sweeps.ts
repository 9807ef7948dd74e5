/** Runs the sweeps that deliveries ask for, each as soon as it may begin. It wakes when a delivery came, and when a request falls due. */
import { asMirrorError } from '../../domain/errors.ts';
import type { Service } from '../../domain/lifecycle.ts';
import type { Engine } from '../account/engine.ts';
import { untilDue } from './sweep-request.ts';

/** The longest nap, in milliseconds: clocks may jump, and another process may ask too. */
const longestNap = 30_000;

export class RequestedSweeps implements Service {
  readonly name: string;
  readonly #engine: Engine;
  readonly #sweep: () => Promise<unknown>;
  #running: Promise<void> | undefined;
  #stopped = false;
  #awake = false;
  #wake: (() => void) | undefined;

  /** `sweep` runs a sweep that begins after the call. */
  constructor(engine: Engine, sweep: () => Promise<unknown>) {
    this.name = `asked sweeps of ${engine.accountId}`;
    this.#engine = engine;
    this.#sweep = sweep;
  }

  start(): Promise<void> {
    this.#running ??= this.#run();
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.nudge();
    await this.#running;
  }

  /** A sweep may have been asked for. */
  nudge(): void {
    this.#awake = true;
    this.#wake?.();
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      this.#awake = false;
      const wait = await this.#untilNext();
      if (wait === 0) await this.#sweepOnce();
      else await this.#nap(wait);
    }
  }

  async #untilNext(): Promise<number> {
    const { mirror, accountId } = this.#engine;
    try {
      const request = await mirror.sweepRequest(accountId);
      return request ? untilDue(this.#engine, request, mirror.moment()) : longestNap;
    } catch {
      // The file is locked, or was taken away: whoever else needs it says so.
      return longestNap;
    }
  }

  async #sweepOnce(): Promise<void> {
    const { log, accountId } = this.#engine;
    try {
      await this.#sweep();
    } catch (error) {
      if (this.#stopped) return;
      log.warn({ account: accountId, err: asMirrorError(error) }, 'a sweep that deliveries asked for failed');
      await this.#nap(longestNap);
    }
  }

  async #nap(ms: number): Promise<void> {
    if (this.#awake || this.#stopped) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#engine.clock.timer(Math.min(longestNap, ms), resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
    this.#wake = undefined;
  }
}
