/**
 * Keeps an account subscribed: checks its callbacks at the start, on request and whenever a code arrives, and repairs them. One check at a
 * time.
 */
import type { CallbacksApi } from '../api/client.ts';
import type { CauseLog } from '../domain/cause-log.ts';
import { sleep, type Clock } from '../domain/clock.ts';
import { ArrivalSignal, SingleFlight, type Service } from '../domain/concurrency.ts';
import { asMirrorError } from '../domain/errors.ts';
import { addressRemedy } from '../health/callbacks.ts';
import { limits } from '../domain/limits.ts';
import type { Log } from '../domain/log.ts';
import type { Store } from '../store/mirror.ts';
import type { AddressTokens, Verifiers } from '../store/secrets/verifiers.ts';
import { OwnCallbacks, type OwnCallbacksOptions } from './own-callbacks.ts';
import { reconcileCallbacks, Verification } from './reconciler.ts';

export interface SubscriptionManagerOptions {
  readonly accountId: string;
  /** Public URL of the listener; without it nothing is registered. */
  readonly publicUrl: string | null;
  /** Events or nouns to subscribe to. */
  readonly events: readonly string[];
  readonly callbacks: CallbacksApi;
  readonly mirror: Pick<Store, 'callbacks'>;
  readonly verifiers: Verifiers;
  readonly clock: Clock;
  readonly log: Log;
  readonly causes: Pick<CauseLog, 'failed' | 'worked'>;
  /** As of its callbacks. */
  readonly asking: OwnCallbacksOptions['asking'];
  /** Limits how many accounts call the service at once: waits for a permit, then does the work. @throws the signal's reason. */
  readonly withPermit: <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>;
  /** Called when a callback has just been verified. A sweep should follow, because earlier changes were not delivered to anyone. */
  readonly onVerified: (accountId: string) => void;
  /** Called with the tokens of the account's addresses before a check, and once a rotation has ended: the listener serves these. */
  readonly onTokens: (accountId: string, tokens: AddressTokens) => void;
  /** Called after that, once a rotation has ended. */
  readonly onRotated: (accountId: string) => Promise<void>;
  readonly onWrongCode: (accountId: string) => void;
}

/** Whether deliveries of the account can arrive; `idle` where there is no public address. */
export type Subscription = 'verified' | 'unverified' | 'idle';

export class SubscriptionManager implements Service {
  readonly name: string;
  readonly #options: SubscriptionManagerOptions;
  readonly #arrivals = new ArrivalSignal();
  readonly #verification: Verification;
  readonly #stopping = new AbortController();
  readonly #checks = new SingleFlight<Subscription>();
  /** Resolves when the current check has processed the callbacks for vendors. */
  #checkingVendors: Promise<void> = Promise.resolve();
  #renewed: { readonly at: number; readonly pause: number } | undefined;
  /** Whether new codes are to be requested, by the check that is under way or by the next one. */
  #isRenewalDue = false;
  #isEnded = false;
  /** Resolves when the codes that wait because others were wrong have been tried; undefined while none waits. */
  #trying: Promise<void> | undefined;

  constructor(options: SubscriptionManagerOptions) {
    this.name = `the webhooks of ${options.accountId}`;
    this.#options = options;
    this.#verification = new Verification({ ...options, arrivals: this.#arrivals });
  }

  /** Starts the first check without waiting for it. */
  start(): Promise<void> {
    void this.check();
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('The daemon stops.'));
    await this.#checks.idle();
    await this.#trying;
  }

  /**
   * Checks and repairs the callbacks; joins a check that is under way.
   * @returns the resulting state. Failures are logged, and the next check tries again.
   */
  check(): Promise<Subscription> {
    const { publicUrl } = this.#options;
    if (publicUrl === null || this.#isEnded) return Promise.resolve('idle');
    return this.#checks.run(() => this.#check(publicUrl));
  }

  /** The same, because a person asks for it: what was refused or registered too often before is tried again now. */
  async checkAnew(): Promise<Subscription> {
    const { accountId, mirror, publicUrl, verifiers } = this.#options;
    if (publicUrl === null) return 'idle';
    await this.#checks.idle();
    await mirror.callbacks.endWaits(accountId);
    await verifiers.forgetRegistrations(accountId);
    return this.check();
  }

  /** Like `check`, but waits only until the callbacks for vendors are processed. */
  async checkVendors(): Promise<void> {
    void this.check();
    await this.#checkingVendors;
  }

  /**
   * Requests new codes although all callbacks look right, because no deliveries arrive: a callback may be disabled without showing it. The
   * time between two renewals doubles while they do not help.
   * @returns the state of the subscription; `renewed` where one was due, and a new code was verified.
   */
  async resendIfSilent(): Promise<Subscription | 'renewed'> {
    const now = this.#options.clock.monotonic();
    const { at, pause } = this.#renewed ?? { at: -Infinity, pause: limits.silentCallback };
    if (now - at >= pause) {
      this.#renewed = {
        at: now,
        pause:
          now - at > limits.silentCallbackAtMost
            ? limits.silentCallback
            : Math.min(limits.silentCallbackAtMost, pause * 2),
      };
      this.#isRenewalDue = true;
    }
    const before = this.#verification.proofs;
    const subscription = await this.check();
    return subscription === 'verified' && this.#verification.proofs > before ? 'renewed' : subscription;
  }

  /** A verification code has arrived and is on disk. */
  codeArrived(): void {
    this.#arrivals.notify();
    if (this.#verification.pause > 0) this.#tryLater();
    else void this.check();
  }

  /** Checks again as soon as another code may be tried. */
  #tryLater(): void {
    const { clock } = this.#options;
    const { signal } = this.#stopping;
    if (signal.aborted) return;
    this.#trying ??= sleep(clock, this.#verification.pause, signal).then(
      () => {
        this.#trying = undefined;
        void this.check();
      },
      () => undefined,
    );
  }

  /** Deletes what this installation registered, and nothing that a copy of it works with; nothing is registered any more after it. @returns how many callbacks. @throws MirrorError of the service. */
  async unregister(): Promise<number> {
    const { accountId, callbacks, publicUrl, verifiers } = this.#options;
    this.#isEnded = true;
    await this.#checks.idle();
    const { signal } = this.#stopping;
    const { current: pathToken, previous: previousToken } = await verifiers.addressTokens(accountId);
    const ownCallbacks = new OwnCallbacks({
      ...this.#options,
      ...{ publicUrl: publicUrl ?? '', pathToken, previousToken },
    });
    await ownCallbacks.refresh(signal);
    const ofOthers = new Set(await ownCallbacks.ofOthers(signal));
    const ours = ownCallbacks.all().filter((callback) => !ofOthers.has(callback));
    try {
      for (const { callbackid } of ours) {
        await callbacks.remove(callbackid, { signal });
        await ownCallbacks.forget(callbackid);
      }
    } finally {
      await ownCallbacks.record();
    }
    return ours.length;
  }

  /** Checks, and once more where a code arrived or a renewal was asked for meanwhile, also while a check failed. */
  async #check(publicUrl: string): Promise<Subscription> {
    for (;;) {
      const subscription = await this.#checkOnce(publicUrl);
      const { isUntried, pause, seenArrivals } = this.#verification;
      const hasArrived = this.#arrivals.count > seenArrivals;
      if (isUntried || (hasArrived && pause > 0)) this.#tryLater();
      const isMissed = this.#isRenewalDue || (hasArrived && pause === 0);
      if (!isMissed || this.#isEnded || this.#stopping.signal.aborted) return subscription;
    }
  }

  async #checkOnce(publicUrl: string): Promise<Subscription> {
    const { accountId, causes, log, verifiers } = this.#options;
    const { signal } = this.#stopping;
    const verification = this.#verification;
    const renew = this.#isRenewalDue;
    this.#isRenewalDue = false;
    verification.seenArrivals = this.#arrivals.count;
    verification.isUntried = false;
    let onVendorsChecked = (): void => undefined;
    this.#checkingVendors = new Promise((resolve) => (onVendorsChecked = resolve));
    try {
      const tokens = await verifiers.addressTokens(accountId);
      const { current: pathToken, previous: previousToken } = tokens;
      const { onRotated, onTokens, withPermit } = this.#options;
      onTokens(accountId, tokens);
      const addresses = { publicUrl, pathToken, previousToken };
      const verified = await withPermit(
        () => reconcileCallbacks({ ...this.#options, ...addresses, verification, signal, renew, onVendorsChecked }),
        signal,
      );
      if (verified && previousToken) {
        onTokens(accountId, { current: pathToken, previous: undefined });
        await onRotated(accountId);
      }
      if (verified) causes.worked(accountId, 'callbacks');
      else {
        const news = causes.failed(accountId, 'callbacks', 'unverified');
        const message = verification.isDisturbed ? disturbedMessage(accountId) : notVerifiedMessage(publicUrl);
        if (news) log.warn({ account: accountId, ...news.facts }, message + news.words);
      }
      return verified ? 'verified' : 'unverified';
    } catch (error) {
      const { code, message, hint } = asMirrorError(error);
      const news = signal.aborted ? undefined : causes.failed(accountId, 'callbacks', code);
      if (news)
        log.warn(
          { account: accountId, code, ...news.facts },
          `the callback could not be checked: ${message} ${hint}${news.words}`,
        );
      return 'unverified';
    } finally {
      onVendorsChecked();
    }
  }
}

const disturbedMessage = (account: string): string =>
  `the callback waits for its verification code, and the service accepted none of those that came: somebody else sends codes to its address. ${addressRemedy(account)}`;

const notVerifiedMessage = (publicUrl: string): string =>
  `the callback waits for its verification code; if none comes, the service cannot reach ${publicUrl}: check listener.publicUrl`;
