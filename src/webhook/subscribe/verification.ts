/**
 * Verifies callbacks: requests a code, waits for it, sends it back, and accepts it only when both the answer and the list say `verified`.
 */
import type { CallbacksApi } from '../../api/callbacks.ts';
import type { Clock } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import type { Secret } from '../../domain/log.ts';
import type { Verifiers } from '../../store/secrets/verifiers.ts';
import type { Callback } from '../../domain/vendor.ts';
import type { ArrivalSignal } from '../../domain/async/arrival-signal.ts';
import type { OwnCallbacks } from './own-callbacks.ts';

export interface VerificationOptions {
  readonly accountId: string;
  readonly callbacks: CallbacksApi;
  readonly verifiers: Verifiers;
  readonly clock: Clock;
  /** Notified when a code arrives. */
  readonly arrivals: ArrivalSignal;
}

/** Codes arrive within seconds or minutes. After this wait, in milliseconds, a code is tried when it arrives. */
export const codeWait = 30_000;
/** A new code invalidates the previous one, so that gets this much time first, in milliseconds. */
const resendAfter = 600_000;

export class Verification {
  readonly #options: VerificationOptions;
  /** When a code was last requested, by callback: monotonic milliseconds. */
  readonly #requested = new Map<number, number>();
  /** Wrong codes that were tried for a callback since it was last verified. */
  readonly #wrong = new Map<number, number>();
  /** The number of arrivals when codes were last looked up. */
  seenArrivals = 0;

  constructor(options: VerificationOptions) {
    this.#options = options;
  }

  /** Wrong codes that were tried for this callback; after several, the service may have locked it. */
  wrongCodes(callbackid: number): number {
    return this.#wrong.get(callbackid) ?? 0;
  }

  /** Notes that a code for this callback is on its way. */
  noteRequest(callbackid: number): void {
    this.#requested.set(callbackid, this.#options.clock.monotonic());
  }

  mayResend(callbackid: number): boolean {
    const requestedAt = this.#requested.get(callbackid);
    return requestedAt === undefined || this.#options.clock.monotonic() - requestedAt >= resendAfter;
  }

  /** Requests a new code. Until it is verified, the service delivers nothing. */
  async resend({ callbackid, event }: Callback, signal: AbortSignal): Promise<Callback> {
    const { accountId, callbacks, verifiers } = this.#options;
    await verifiers.expect(accountId, event, callbackid);
    this.noteRequest(callbackid);
    return callbacks.resend(callbackid, { signal });
  }

  /** Waits for the requested code and tries it. @returns whether the callback is verified; false after `codeWait`. */
  async awaitCode(callback: Callback, ownCallbacks: OwnCallbacks, signal: AbortSignal): Promise<boolean> {
    const { arrivals, clock } = this.#options;
    const deadline = clock.monotonic() + codeWait;
    for (;;) {
      if (await this.tryCodes(callback, ownCallbacks, signal)) return true;
      const left = Math.max(0, deadline - clock.monotonic());
      if (!(await arrivals.waitForMore(this.seenArrivals, left, clock, signal))) return false;
    }
  }

  /** Tries the codes that have arrived. @returns whether one was right. */
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
      // The answer to a wrong code is not documented: any refusal is taken for one.
      const refused = error instanceof MirrorError && refusals.has(error.code);
      if (!refused) throw error;
      return false;
    }
  }
}

const refusals: ReadonlySet<MirrorError['code']> = new Set(['rejected', 'access_denied', 'not_supported']);
