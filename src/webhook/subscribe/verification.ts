/**
 * Proves a callback: has a code sent where none is there, waits for it, sends it back, and believes that it is right only
 * when both the answer and the list say `verified`.
 */
import type { CallbacksApi } from '../../api/callbacks.ts';
import type { Clock } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import type { Secret } from '../../domain/log.ts';
import type { Verifiers } from '../../store/secrets/verifiers.ts';
import type { Callback } from '../../domain/vendor.ts';
import type { ArrivalSignal } from '../../domain/async/arrival-signal.ts';
import type { OwnCallbacks } from './own-callbacks.ts';

export interface ProverOptions {
  readonly accountId: string;
  readonly callbacks: CallbacksApi;
  readonly verifiers: Verifiers;
  readonly clock: Clock;
  /** Rings when a code has come. */
  readonly arrivals: ArrivalSignal;
}

/** A code comes within seconds or minutes: one that takes longer than this wait is proven when it comes. */
const codeWait = 30_000;
/** A code asked for anew makes the last one useless, so that one gets its time first. */
const resendAfter = 600_000;

export class Prover {
  readonly #options: ProverOptions;
  /** When a code was last asked for, by callback: monotonic milliseconds. */
  readonly #requested = new Map<number, number>();
  /** How many wrong codes a callback was sent since it was last verified. */
  readonly #wrong = new Map<number, number>();
  /** The count of arrivals when codes were last looked for. */
  seenArrivals = 0;

  constructor(options: ProverOptions) {
    this.#options = options;
  }

  /** Wrong codes sent for this callback so far: after several, the service may have locked it. */
  wrongCodes(callbackid: number): number {
    return this.#wrong.get(callbackid) ?? 0;
  }

  /** A code for this callback is on its way, because it was just registered. */
  asked(callbackid: number): void {
    this.#requested.set(callbackid, this.#options.clock.monotonic());
  }

  mayResend(callbackid: number): boolean {
    const asked = this.#requested.get(callbackid);
    return asked === undefined || this.#options.clock.monotonic() - asked >= resendAfter;
  }

  /** Has a new code sent. Until it is verified, nothing is delivered. */
  async resend({ callbackid, event }: Callback, signal: AbortSignal): Promise<Callback> {
    const { accountId, callbacks, verifiers } = this.#options;
    await verifiers.expect(accountId, event, callbackid);
    this.asked(callbackid);
    return callbacks.resend(callbackid, { signal });
  }

  /** Waits a while for the code that was asked for. @returns whether the callback is verified. */
  async await(callback: Callback, ownCallbacks: OwnCallbacks, signal: AbortSignal): Promise<boolean> {
    const { arrivals, clock } = this.#options;
    const deadline = clock.monotonic() + codeWait;
    for (;;) {
      if (await this.tryCodes(callback, ownCallbacks, signal)) return true;
      const left = Math.max(0, deadline - clock.monotonic());
      if (!(await arrivals.waitForMore(this.seenArrivals, left, clock, signal))) return false;
    }
  }

  /** Tries the codes that are there. @returns whether one was right. */
  async tryCodes(callback: Callback, ownCallbacks: OwnCallbacks, signal: AbortSignal): Promise<boolean> {
    const { accountId, arrivals, verifiers } = this.#options;
    const { callbackid, event } = callback;
    this.seenArrivals = arrivals.count;
    for (const code of await verifiers.candidates(accountId, callbackid)) {
      if (!(await this.#isRight(callbackid, code, signal))) {
        this.#wrong.set(callbackid, this.wrongCodes(callbackid) + 1);
        await verifiers.drop(accountId, code);
        continue;
      }
      await ownCallbacks.refresh(signal);
      if (!ownCallbacks.all().some((listed) => listed.callbackid === callbackid && listed.verified)) return false;
      await verifiers.prove(accountId, event, callbackid, code);
      this.#wrong.delete(callbackid);
      this.#requested.delete(callbackid);
      return true;
    }
    return false;
  }

  async #isRight(callbackid: number, code: Secret, signal: AbortSignal): Promise<boolean> {
    try {
      return (await this.#options.callbacks.verify(callbackid, code, { signal })).verified;
    } catch (error) {
      // What the service answers to a wrong code is not shown: any refusal of this request is taken for one.
      const refused = error instanceof MirrorError && refusals.has(error.code);
      if (!refused) throw error;
      return false;
    }
  }
}

const refusals: ReadonlySet<MirrorError['code']> = new Set(['rejected', 'access_denied', 'not_supported']);
