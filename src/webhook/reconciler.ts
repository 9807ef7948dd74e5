/**
 * Brings an account's callbacks into the wanted state: each event has exactly one callback that leads here, and it is verified. A callback at
 * an address of before, which moved or was rotated, is deleted only after that; a rotation ends then.
 *
 * A registration that the service refuses is tried again after a minute, then after waits that double up to an hour; meanwhile its cause is
 * kept. One that is made and does not last, because somebody deletes it or its codes are wrong, is made three times a day, and then after waits that begin
 * with an hour and double. A wait is for one address, and ends where a person asks for it (`SubscriptionManager.checkAnew`).
 */
import type { CallbacksApi } from '../api/client.ts';
import { parseInstant, timestamp, type Clock } from '../domain/clock.ts';
import type { ArrivalSignal } from '../domain/concurrency.ts';
import { asMirrorError, catalogue, isOfToken, MirrorError, withMessage, type ErrorCode } from '../domain/errors.ts';
import { isAboutVendors } from '../domain/events.ts';
import { limits } from '../domain/limits.ts';
import type { Log } from '../domain/log.ts';
import { redacted, type Secret } from '../domain/secret.ts';
import type { Callback } from '../domain/vendor.ts';
import type { RegistrationRefusal } from '../store/callbacks.ts';
import type { Store } from '../store/mirror.ts';
import type { Verifiers } from '../store/secrets/verifiers.ts';
import { withoutToken } from './address.ts';
import { OwnCallbacks, type OwnCallbacksOptions } from './own-callbacks.ts';

export interface CallbackReconcilerOptions extends OwnCallbacksOptions {
  /** Events or nouns to subscribe to. */
  readonly events: readonly string[];
  readonly verification: Verification;
  readonly signal: AbortSignal;
  /** Requests new codes even for verified callbacks. */
  readonly renew: boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** Stores the events that the service refuses to register, for status reports. */
  readonly mirror: Pick<Store, 'callbacks'>;
  /** Called when a callback for vendors has just been verified: earlier changes were not delivered to anyone. */
  readonly onVerified: (accountId: string) => void;
  /** Called when the callbacks for vendors were processed, verified or not. */
  readonly onVendorsChecked: () => void;
}

const verbs = ['create', 'update', 'delete'];
/** Whether the service refused this event; it may accept others. */
function isRefusal({ code }: MirrorError): boolean {
  return code === 'rejected' || code === 'access_denied' || code === 'secrets_shared';
}

function pauseAfter(attempts: number): number {
  return Math.min(limits.callbackRetryAtMost, limits.callbackRetry * 2 ** (attempts - 1));
}

/** A registration that was refused before and is not tried yet. */
class Waiting extends MirrorError {
  readonly refusal: RegistrationRefusal;

  constructor(refusal: RegistrationRefusal) {
    const { code, message, remedy } = refusal;
    super(code in catalogue ? (code as ErrorCode) : 'rejected', message, { remedy: remedy ?? undefined });
    this.refusal = refusal;
  }
}

/**
 * After this many wrong codes the service may have locked the callback: where its last code had time and was not right either, a new one is
 * registered in its place.
 */
const maxWrongCodes = 6;

/**
 * Checks the callbacks of an account once, and registers, verifies and removes what is needed.
 * @returns whether every event has a verified callback whose key is stored.
 * @throws MirrorError of the service; what was done until then is saved.
 */
export async function reconcileCallbacks(options: CallbackReconcilerOptions): Promise<boolean> {
  return new CallbackReconciler(options).run();
}

class CallbackReconciler {
  readonly #options: CallbackReconcilerOptions;
  readonly #ownCallbacks: OwnCallbacks;
  readonly #kept = new Set<number>();
  /** Errors of events that could not be registered. */
  readonly #refusals = new Map<string, MirrorError>();
  /** What was refused before this check. */
  #refusedBefore: readonly RegistrationRefusal[] = [];
  /** Callbacks that another installation with our secrets works with. */
  #ofOthers: readonly Callback[] = [];
  /** Callbacks that were verified in this check. */
  #newlyVerified = 0;

  constructor(options: CallbackReconcilerOptions) {
    this.#options = options;
    this.#ownCallbacks = new OwnCallbacks(options);
  }

  async run(): Promise<boolean> {
    const { accountId, events, mirror, onVendorsChecked, signal } = this.#options;
    this.#refusedBefore = await mirror.callbacks.refusals(accountId);
    await this.#list();
    this.#ofOthers = await this.#ownCallbacks.ofOthers(signal);
    try {
      const verified = await this.#ensureAll(events.filter(isAboutVendors));
      onVendorsChecked();
      const others = await this.#ensureAll(events.filter((event) => !isAboutVendors(event)));
      const [other] = this.#ofOthers;
      if (other && this.#refusals.size === 0) this.#refusals.set(other.event, secretsShared(other));
      await this.#recordRefusals();
      const [refusal] = this.#refusals.values();
      if (refusal) throw refusal;
      if (verified && others) await this.#removeOthers();
      if (verified && others) await this.#endRotation();
      return verified && others;
    } finally {
      await this.#ownCallbacks.record();
    }
  }

  /** Lists the callbacks. Where the service refuses that, nothing can be registered. */
  async #list(): Promise<void> {
    const { accountId, events, mirror, signal } = this.#options;
    try {
      await this.#ownCallbacks.refresh(signal);
    } catch (caught) {
      const error = asMirrorError(caught);
      if (!signal.aborted && (refusals.has(error.code) || error.code === 'not_found')) {
        const words = withMessage(error, `The service refuses to list callbacks. ${error.message}`);
        // It is asked for with each check: no wait.
        const refused = events.map((event) => ({ ...this.#refused(event, words), attempts: 0, retry_at: null }));
        await mirror.callbacks.replaceRefusals(accountId, refused);
      }
      throw error;
    }
  }

  /** Processes each of the events, even where the service refuses one. @returns whether all are verified. */
  async #ensureAll(events: readonly string[]): Promise<boolean> {
    const { accountId, log, onVerified, signal } = this.#options;
    let verified = true;
    for (const event of events) {
      const before = this.#newlyVerified;
      try {
        const isVerified = await this.#ensure(event);
        verified &&= isVerified;
        if (this.#newlyVerified > before)
          log.info({ account: accountId, event }, `the callback for ${event} is verified`);
        else if (!isVerified) log.info({ account: accountId, event }, `the callback for ${event} is not verified yet`);
      } catch (caught) {
        const error = asMirrorError(caught);
        if (signal.aborted) throw error;
        this.#refusals.set(event, error);
        verified = false;
        if (error instanceof Waiting) continue;
        // The check ends with this error, or with the first of several, which is logged then.
        log.debug({ account: accountId, event, code: error.code }, `the callback for ${event} could not be registered`);
        if (!isRefusal(error)) {
          await this.#recordRefusals();
          throw error;
        }
      } finally {
        if (this.#newlyVerified > before && isAboutVendors(event)) {
          // Saved at once, so that neither readers of the mirror nor the next sweep wait for the other events.
          await this.#ownCallbacks.record();
          onVerified(accountId);
        }
      }
    }
    return verified;
  }

  /** Saves the refused events, without the path token, which the service's message may repeat. */
  async #recordRefusals(): Promise<void> {
    const { accountId, mirror } = this.#options;
    const refusals = [...this.#refusals].map(([event, error]) =>
      error instanceof Waiting ? error.refusal : this.#refused(event, error),
    );
    await mirror.callbacks.replaceRefusals(accountId, refusals);
  }

  #refused(event: string, { code, message, remedy, retryAfter = 0 }: MirrorError): RegistrationRefusal {
    const { clock, pathToken } = this.#options;
    const now = clock.now();
    const uri = withoutToken(this.#ownCallbacks.address);
    const before = this.#refusedBefore.find((refusal) => refusal.event === event && refusal.uri === uri);
    const attempts = (before?.attempts ?? 0) + 1;
    const pause = Math.max(retryAfter, pauseAfter(attempts));
    return {
      ...{ event, code, uri, attempts },
      message: redacted(message, [pathToken]),
      remedy: remedy ?? null,
      refused_at: before?.refused_at ?? timestamp(now),
      retry_at: timestamp(now + pause),
    };
  }

  /** Why this event is not registered now: the refusal of it, or of what was asked for in its place. */
  #waitingFor(event: string): Waiting | undefined {
    const now = this.#options.clock.now();
    const uri = withoutToken(this.#ownCallbacks.address);
    const refusal = this.#refusedBefore.find(
      (refused) =>
        (event === refused.event || event.startsWith(`${refused.event}.`)) &&
        refused.uri === uri &&
        refused.code !== 'secrets_shared',
    );
    const left = (parseInstant(refusal?.retry_at ?? '') ?? now) - now;
    // A longer one is of a clock that was set back since.
    const longest = refusal?.code === 'rate_limited' ? maxWait : pauseAfter(refusal?.attempts ?? 0);
    return refusal && left > 0 && left <= longest ? new Waiting(refusal) : undefined;
  }

  /** Makes sure that an event has a verified callback: one for the event, or, where the service refuses the noun, one for each verb. */
  async #ensure(event: string): Promise<boolean> {
    const byVerb = event.includes('.') ? [] : verbs.map((verb) => `${event}.${verb}`);
    const ours = new Set(this.#ownCallbacks.all().map((callback) => callback.event));
    const refusedBefore = !ours.has(event) && byVerb.some((name) => ours.has(name));
    const refusal = refusedBefore ? undefined : await this.#subscribe(event);
    if (typeof refusal === 'boolean') return refusal;
    if (refusal && byVerb.length === 0) throw refusal;
    let verified = true;
    for (const name of byVerb) verified = (await this.#ensure(name)) && verified;
    return verified;
  }

  /** Finds, revives or registers the callback of an event. @returns whether it is verified, or the service's refusal. */
  async #subscribe(event: string): Promise<boolean | MirrorError> {
    const [listed] = await this.#ownCallbacks.forEvent(event);
    if (listed) return this.#verify(listed);
    const [other] = this.#ofOthers;
    if (other) throw secretsShared(other);
    const revived = await this.#revive(event);
    if (revived) return this.#awaitCode(revived);
    return this.#register(event);
  }

  /** Verifies a listed callback where needed. */
  async #verify(callback: Callback): Promise<boolean> {
    const { accountId, verification, renew, signal, verifiers } = this.#options;
    const { callbackid, event } = callback;
    const hasKey = callback.verified && (await verifiers.hasKey(accountId, callbackid));
    if (hasKey && !(renew && verification.mayResend(callbackid))) {
      await verifiers.expectNone(accountId, event);
      this.#kept.add(callbackid);
      return true;
    }
    if (!callback.verified && (await verification.tryCodes(callback, this.#ownCallbacks, signal)))
      return this.#keepVerified(callback);
    // Of one that is verified by a code that nobody knows, no code proves anything: it says `verified` whatever is sent. A resend ends that.
    const isLost = callback.verified && !hasKey;
    if (!isLost && !verification.mayResend(callbackid)) return false;
    if (verification.wrongCodes(callbackid) >= maxWrongCodes) {
      const replaced = await this.#register(event, callback);
      if (typeof replaced === 'boolean') return replaced;
      throw replaced;
    }
    return this.#resend(callback);
  }

  async #resend(callback: Callback): Promise<boolean> {
    this.#ownCallbacks.add(await this.#options.verification.resend(callback, this.#options.signal));
    return this.#awaitCode(callback);
  }

  /** A callback that is no longer listed may be disabled; requesting a new code enables it again. */
  async #revive(event: string): Promise<Callback | undefined> {
    const vanished = this.#ownCallbacks.vanishedFor(event);
    const { previousToken, verification, signal } = this.#options;
    // What a rotation replaces is not asked for again.
    if (!vanished || previousToken) return undefined;
    try {
      const callback = await verification.resend(vanished, signal);
      this.#ownCallbacks.add(callback);
      return this.#ownCallbacks.leadsHere(callback) ? callback : undefined;
    } catch (error) {
      signal.throwIfAborted();
      const { code, retry } = asMirrorError(error);
      if (retry || isOfToken(code)) throw error;
      await this.#ownCallbacks.forget(vanished.callbackid);
      return undefined;
    }
  }

  async #register(event: string, instead?: Callback): Promise<boolean | MirrorError> {
    const { accountId, callbacks, clock, verification, signal, verifiers } = this.#options;
    const waiting = this.#waitingFor(event);
    if (waiting && instead) return this.#resend(instead);
    if (waiting) throw waiting;
    const until = await verifiers.register(accountId, event, this.#ownCallbacks.address);
    if (until !== undefined && instead) return this.#resend(instead);
    if (until !== undefined) throw tooOften(event, until - clock.now());
    if (instead) await this.#remove(instead);
    // Saved before the request is sent: the code may arrive before the answer, and the answer may be lost.
    await verifiers.expect(accountId, event, null);
    let callback: Callback;
    try {
      callback = await callbacks.register(event, this.#ownCallbacks.address, { signal });
    } catch (error) {
      signal.throwIfAborted();
      return this.#registeredAfterAll(event, asMirrorError(error));
    }
    await verifiers.expect(accountId, event, callback.callbackid);
    verification.noteRequest(callback.callbackid);
    this.#ownCallbacks.add(callback);
    return this.#awaitCode(callback);
  }

  /** The callback may exist already, or have been registered although the answer was lost: the list shows it. */
  async #registeredAfterAll(event: string, failure: MirrorError): Promise<boolean | MirrorError> {
    const { accountId, signal, verifiers } = this.#options;
    // Another failure leaves open whether it was made.
    if (!failure.mayBeDone) await verifiers.withdraw(accountId, event);
    await this.#ownCallbacks.refresh(signal);
    const [listed] = await this.#ownCallbacks.forEvent(event);
    if (listed) return this.#verify(listed);
    if (failure.mayBeDone) await verifiers.withdraw(accountId, event);
    await verifiers.expectNone(accountId, event);
    if (failure.code !== 'rejected') throw failure;
    return failure;
  }

  async #awaitCode(callback: Callback): Promise<boolean> {
    // Saved first: until the code arrives, readers of the mirror see that nothing is delivered. Of one that is renewed, that was not so.
    if (!this.#options.renew) await this.#ownCallbacks.record();
    const verified = await this.#options.verification.awaitCode(callback, this.#ownCallbacks, this.#options.signal);
    return verified && (await this.#keepVerified(callback));
  }

  async #keepVerified({ callbackid, event }: Callback): Promise<true> {
    const { accountId, mirror } = this.#options;
    if (isAboutVendors(event)) await mirror.callbacks.proven(accountId);
    this.#kept.add(callbackid);
    this.#newlyVerified += 1;
    return true;
  }

  /** Removes duplicates, our callbacks with earlier addresses, and records of vanished ones. */
  async #removeOthers(): Promise<void> {
    for (const { callbackid } of this.#ownCallbacks.vanished()) await this.#ownCallbacks.forget(callbackid);
    for (const callback of this.#ownCallbacks.all())
      if (!this.#kept.has(callback.callbackid)) await this.#remove(callback);
  }

  /** Nothing leads to the address of before any more. */
  async #endRotation(): Promise<void> {
    const { accountId, log, pathToken, previousToken, verifiers } = this.#options;
    if (!previousToken) return;
    await verifiers.endRotation(accountId, pathToken);
    log.info(
      { account: accountId },
      'the address of the callback is replaced, and the callback at the old one is deleted',
    );
  }

  async #remove({ callbackid }: Callback): Promise<void> {
    const { callbacks, signal } = this.#options;
    try {
      await callbacks.remove(callbackid, { signal });
    } catch (error) {
      if (asMirrorError(error).code !== 'not_found') throw error;
    }
    await this.#ownCallbacks.forget(callbackid);
  }
}

/** The longest wait: between two registrations that did not last. */
const maxWait = 86_400_000;

function tooOften(event: string, wait: number): MirrorError {
  return new MirrorError(
    'rate_limited',
    `${event} was registered several times within a day, and its callback did not last: it was deleted, or not verified.`,
    {
      retryAfter: wait,
      remedy:
        'Find out who deletes it (`vendor-mirror callbacks list`), or why no code arrives (`vendor-mirror doctor`). Then SIGHUP makes the daemon try again at once.',
    },
  );
}

function secretsShared({ callbackid, uri }: Callback): MirrorError {
  const where = URL.canParse(uri) ? new URL(uri).origin : 'another address';
  return new MirrorError(
    'secrets_shared',
    `Another installation has the secrets of this one, and its callback ${callbackid} leads to ${where}: nothing is registered here, or each would delete the callbacks of the other.`,
  );
}

export interface VerificationOptions {
  readonly accountId: string;
  readonly callbacks: CallbacksApi;
  readonly verifiers: Verifiers;
  readonly clock: Clock;
  /** Notified when a code arrives. */
  readonly arrivals: ArrivalSignal;
  /** Called for each code that the service did not accept, or that was of no use once it had accepted another one. */
  readonly onWrongCode: (accountId: string) => void;
}

/** Codes arrive within seconds or minutes. After this wait, in milliseconds, a code is tried when it arrives. */
export const codeWait = 30_000;
/** A new code invalidates the previous one, so that gets this much time first, in milliseconds. */
const resendAfter = 600_000;
/** Anybody who knows the address can send codes: after this many wrong ones within a minute, the others wait. */
const wrongAtOnce = 5;
const tryingPause = 60_000;
const disturbedFor = 3_600_000;

/**
 * Verifies callbacks: requests a code, waits for it, sends it back, and accepts it only when both the answer and the list say `verified`, which
 * they did not before: proof is a change.
 */
export class Verification {
  readonly #options: VerificationOptions;
  /** When a code was last requested, by callback: monotonic milliseconds. */
  readonly #requested = new Map<number, number>();
  /** Wrong codes that were tried for a callback since it was last verified. */
  readonly #wrong = new Map<number, number>();
  /** When the last wrong codes were tried: monotonic milliseconds, at most `wrongAtOnce`. */
  #wrongAt: readonly number[] = [];
  /** The number of arrivals when codes were last looked up. */
  seenArrivals = 0;
  /** How many codes were right. */
  proofs = 0;
  /** Whether a code waits because several before it were wrong. */
  isUntried = false;

  constructor(options: VerificationOptions) {
    this.#options = options;
  }

  /** Wrong codes that were tried for this callback; after several, the service may have locked it. */
  wrongCodes(callbackid: number): number {
    return this.#wrong.get(callbackid) ?? 0;
  }

  /** Milliseconds until another code may be tried: the last ones were wrong. */
  get pause(): number {
    const { clock } = this.#options;
    const [first] = this.#wrongAt;
    if (first === undefined || this.#wrongAt.length < wrongAtOnce) return 0;
    return Math.max(0, first + tryingPause - clock.monotonic());
  }

  /** Whether several wrong codes came lately: not the service sent them, which sends few. */
  get isDisturbed(): boolean {
    const [first] = this.#wrongAt;
    const isFull = first !== undefined && this.#wrongAt.length === wrongAtOnce;
    return isFull && this.#options.clock.monotonic() - first < disturbedFor;
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
    const { accountId, arrivals, onWrongCode, verifiers } = this.#options;
    const { callbackid, event } = callback;
    this.seenArrivals = arrivals.count;
    for (const code of await verifiers.candidates(accountId, callbackid)) {
      if (this.pause > 0) {
        this.isUntried = true;
        return false;
      }
      if (!(await this.#isRight(callbackid, code, signal))) {
        await this.#noteWrong(callbackid, code);
        continue;
      }
      await ownCallbacks.refresh(signal);
      if (!ownCallbacks.all().some((listed) => listed.callbackid === callbackid && listed.verified)) return false;
      const useless = await verifiers.proveCandidate(accountId, event, callbackid, code);
      for (let count = 0; count < useless; count += 1) onWrongCode(accountId);
      this.proofs += 1;
      this.#wrong.delete(callbackid);
      this.#requested.delete(callbackid);
      return true;
    }
    return false;
  }

  async #noteWrong(callbackid: number, code: Secret): Promise<void> {
    const { accountId, clock, onWrongCode, verifiers } = this.#options;
    this.#wrong.set(callbackid, this.wrongCodes(callbackid) + 1);
    this.#wrongAt = [...this.#wrongAt, clock.monotonic()].slice(-wrongAtOnce);
    onWrongCode(accountId);
    await verifiers.drop(accountId, code);
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
