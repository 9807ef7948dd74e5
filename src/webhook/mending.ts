/** One look at an account's callbacks, and whatever it takes so that every event reaches us through exactly one verified callback. */
import { asMirrorError, MirrorError } from '../errors.ts';
import type { Callback } from '../vendor.ts';
import { Holdings, type HoldingsOptions } from './holdings.ts';
import type { Prover } from './proving.ts';

export interface MendingOptions extends HoldingsOptions {
  /** Events or nouns to be told of. */
  readonly events: readonly string[];
  readonly prover: Prover;
  readonly signal: AbortSignal;
  /** Has a new code sent even for what looks right. */
  readonly renew: boolean;
  /** Told at the end if anything was verified just now: what happened before was told to nobody. */
  readonly onVerified: (accountId: string) => void;
}

const verbs = ['create', 'update', 'delete'];
/** So many wrong codes, and the service may have locked the callback: a new one is registered in its place. */
const mostWrongCodes = 6;

/**
 * @returns whether every event has its verified callback, whose key we hold.
 * @throws MirrorError of the service; what had been done by then is written down.
 */
export async function mend(options: MendingOptions): Promise<boolean> {
  return new Mending(options).run();
}

class Mending {
  readonly #options: MendingOptions;
  readonly #holdings: Holdings;
  readonly #kept = new Set<number>();
  #anew = false;

  constructor(options: MendingOptions) {
    this.#options = options;
    this.#holdings = new Holdings(options);
  }

  async run(): Promise<boolean> {
    const { accountId, onVerified, signal } = this.#options;
    await this.#holdings.look(signal);
    try {
      let verified = true;
      for (const event of this.#options.events) verified = (await this.#cover(event)) && verified;
      if (verified) await this.#removeOthers();
      return verified;
    } finally {
      await this.#holdings.record();
      if (this.#anew) onVerified(accountId);
    }
  }

  /** Sees to it that an event is told: by a callback of its own, or where its noun is refused, by one for each verb. */
  async #cover(event: string): Promise<boolean> {
    const byVerb = event.includes('.') ? [] : verbs.map((verb) => `${event}.${verb}`);
    const ours = new Set(this.#holdings.all().map((callback) => callback.event));
    const refusedBefore = !ours.has(event) && byVerb.some((name) => ours.has(name));
    const refusal = refusedBefore ? undefined : await this.#subscribe(event);
    if (typeof refusal === 'boolean') return refusal;
    if (refusal && byVerb.length === 0) throw refusal;
    let verified = true;
    for (const name of byVerb) verified = (await this.#cover(name)) && verified;
    return verified;
  }

  /** @returns whether its callback is verified, or how the service refused the event. */
  async #subscribe(event: string): Promise<boolean | MirrorError> {
    const [listed] = await this.#holdings.for(event);
    if (listed) return this.#settle(listed);
    const revived = await this.#revive(event);
    if (revived) return this.#prove(revived);
    return this.#register(event);
  }

  /** Makes a listed callback right where it is not. */
  async #settle(callback: Callback): Promise<boolean> {
    const { accountId, prover, renew, signal, verifiers } = this.#options;
    const { callbackid, event } = callback;
    const right = callback.verified && (await verifiers.holds(accountId, callbackid));
    if (right && !(renew && prover.mayAsk(callbackid))) {
      await verifiers.expectNone(accountId, event);
      this.#kept.add(callbackid);
      return true;
    }
    if (!right && (await prover.tryCodes(callback, this.#holdings, signal))) return this.#keep(callbackid);
    if (prover.wrongCodes(callbackid) >= mostWrongCodes) {
      const replaced = await this.#register(event, callback);
      if (typeof replaced === 'boolean') return replaced;
      throw replaced;
    }
    if (!prover.mayAsk(callbackid)) return false;
    this.#holdings.see(await prover.ask(callback, signal));
    return this.#prove(callback);
  }

  /** A callback that is not listed any more may be a disabled one, which a new code wakes. */
  async #revive(event: string): Promise<Callback | undefined> {
    const vanished = this.#holdings.vanished().find((callback) => callback.event === event);
    if (!vanished) return undefined;
    const { prover, signal } = this.#options;
    try {
      const callback = await prover.ask(vanished, signal);
      this.#holdings.see(callback);
      return this.#holdings.leadsHere(callback) ? callback : undefined;
    } catch (error) {
      signal.throwIfAborted();
      const { code, retry } = asMirrorError(error);
      if (retry || code === 'unauthenticated') throw error;
      await this.#holdings.lose(vanished.callbackid);
      return undefined;
    }
  }

  async #register(event: string, instead?: Callback): Promise<boolean | MirrorError> {
    const { accountId, callbacks, prover, signal, verifiers } = this.#options;
    if (!(await verifiers.mayRegister(accountId, event)))
      throw new MirrorError('rate_limited', `${event} was registered several times today; the next try is tomorrow.`);
    if (instead) await this.#remove(instead);
    // Before the request leaves: the code may come before the answer, and the answer may never come.
    await verifiers.expect(accountId, event, null);
    let callback: Callback;
    try {
      callback = await callbacks.register(event, this.#holdings.address, { signal });
    } catch (error) {
      signal.throwIfAborted();
      return this.#registeredAfterAll(event, asMirrorError(error));
    }
    await verifiers.expect(accountId, event, callback.callbackid);
    prover.asked(callback.callbackid);
    this.#holdings.see(callback);
    return this.#prove(callback);
  }

  /** It may exist already, or have been carried out although the answer was lost: the list knows. */
  async #registeredAfterAll(event: string, failure: MirrorError): Promise<boolean | MirrorError> {
    const { accountId, signal, verifiers } = this.#options;
    await this.#holdings.look(signal);
    const [listed] = await this.#holdings.for(event);
    if (listed) return this.#settle(listed);
    await verifiers.expectNone(accountId, event);
    if (failure.code !== 'rejected') throw failure;
    return failure;
  }

  async #prove(callback: Callback): Promise<boolean> {
    const verified = await this.#options.prover.await(callback, this.#holdings, this.#options.signal);
    return verified && this.#keep(callback.callbackid);
  }

  #keep(callbackid: number): true {
    this.#kept.add(callbackid);
    this.#anew = true;
    return true;
  }

  /** Doubles, what leads to an address that we had before, and the memory of what vanished. */
  async #removeOthers(): Promise<void> {
    for (const { callbackid } of this.#holdings.vanished()) await this.#holdings.lose(callbackid);
    for (const callback of this.#holdings.all()) if (!this.#kept.has(callback.callbackid)) await this.#remove(callback);
  }

  async #remove({ callbackid }: Callback): Promise<void> {
    const { callbacks, signal } = this.#options;
    try {
      await callbacks.remove(callbackid, { signal });
    } catch (error) {
      if (asMirrorError(error).code !== 'not_found') throw error;
    }
    await this.#holdings.lose(callbackid);
  }
}
