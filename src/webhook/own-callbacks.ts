/**
 * Decides which callbacks of an account are ours: those whose address contains our path token or, during a rotation, the one before it, and those that we recorded as registered
 * below our public address. No other callback is ever changed: another installation may own it. One that leads to our public address with another
 * path token delivers nothing to anybody: most often its secrets were lost. It is recorded and logged once, so that a person can delete it.
 *
 * A copy of our secrets, such as a restored backup, has our path token too. So a callback with it that leads elsewhere is changed only where it is
 * our own of an earlier public address: not where another process with these secrets answers there, nor where it was verified while we had one here.
 */
import type { CallbacksApi } from '../api/client.ts';
import type { Log } from '../domain/log.ts';
import type { Secret } from '../domain/secret.ts';
import type { Callback } from '../domain/vendor.ts';
import { unknownCallbacksRemedy, unknownCallbacksText } from '../health/callbacks.ts';
import type { Store } from '../store/mirror.ts';
import type { Verifiers } from '../store/secrets/verifiers.ts';
import {
  answererAt,
  type AskingDependencies,
  callbackAddress,
  containsToken,
  isBelow,
  isSameAddress,
  withoutToken,
} from './address.ts';

export interface OwnCallbacksOptions {
  readonly accountId: string;
  readonly publicUrl: string;
  readonly pathToken: Secret;
  /** The one before, while a rotation is under way. */
  readonly previousToken?: Secret | undefined;
  readonly callbacks: CallbacksApi;
  readonly mirror: Pick<Store, 'callbacks'>;
  readonly verifiers: Verifiers;
  readonly log: Log;
  /** By what others are asked who they are, and whether a process of that random name serves this mirror. */
  readonly asking: Omit<AskingDependencies, 'signal'> & { readonly isOfMirror: (process: string) => Promise<boolean> };
}

export class OwnCallbacks {
  /** The address that our callbacks are registered with. It contains the path token, which is secret. */
  readonly address: string;
  readonly #options: OwnCallbacksOptions;
  #listed = new Map<number, Callback>();
  /** Lead here, and are not ours. */
  #unknown: readonly Callback[] = [];
  #recorded: Callback[] | undefined;

  constructor(options: OwnCallbacksOptions) {
    this.#options = options;
    this.address = callbackAddress(options.publicUrl, options.accountId, options.pathToken);
  }

  /** Lists all callbacks at the service and keeps ours. */
  async refresh(signal: AbortSignal): Promise<void> {
    const { accountId, callbacks, mirror, log } = this.#options;
    const isFirst = this.#recorded === undefined;
    this.#recorded ??= await mirror.callbacks.knownCallbacks(accountId);
    const onRejected = (reason: string): void =>
      log.warn({ account: accountId }, `a callback cannot be used, perhaps of another integration: ${reason}`);
    const listed = await callbacks.list({}, { signal, ...(isFirst && { onRejected }) });
    const named = listed.map((callback) => this.#named(callback));
    this.#listed = new Map(
      named.filter((callback) => this.#isOurs(callback)).map((callback) => [callback.callbackid, callback]),
    );
    this.#unknown = named.filter((callback) => !this.#isOurs(callback) && this.#isBelowPublicUrl(callback));
  }

  /** Our listed callbacks, including those with other addresses. */
  all(): Callback[] {
    return [...this.#listed.values()];
  }

  /** Callbacks with our path token that another installation works with. */
  async ofOthers(signal: AbortSignal): Promise<Callback[]> {
    const elsewhere = this.all().filter((callback) => !this.leadsHere(callback) && !this.#ledHere(callback));
    const hadOneHere = this.#recorded?.some(({ uri }) => isSameAddress(uri, withoutToken(this.address))) === true;
    const found: Callback[] = [];
    for (const callback of elsewhere) {
      const token = this.#tokenIn(callback);
      if (!token) continue;
      const isOurs = this.#recorded?.some(({ callbackid }) => callbackid === callback.callbackid) === true;
      if ((hadOneHere && callback.verified && !isOurs) || (await this.#isAnswered(callback, token, signal)))
        found.push(callback);
    }
    return found;
  }

  /** Whether another process with our secrets answers where a callback leads. */
  async #isAnswered({ uri }: Callback, token: Secret, signal: AbortSignal): Promise<boolean> {
    const { accountId, asking } = this.#options;
    const base = uri.slice(0, uri.lastIndexOf(`/webhooks/${accountId}/`));
    try {
      const { isOurs, process } = await answererAt(base, { account: accountId, token }, { ...asking, signal });
      return isOurs && !(process !== null && (await asking.isOfMirror(process)));
    } catch {
      signal.throwIfAborted();
      return false;
    }
  }

  /** Our callbacks for an event with the current address: verified ones first, then those with a stored key, then the oldest. */
  async forEvent(event: string): Promise<Callback[]> {
    const { accountId, verifiers } = this.#options;
    const ranked = await Promise.all(
      this.all()
        .filter((callback) => callback.event === event && this.leadsHere(callback))
        .map(async (callback) => {
          const hasKey = await verifiers.hasKey(accountId, callback.callbackid);
          return { callback, rank: (callback.verified ? 0 : 2) + (hasKey ? 0 : 1) };
        }),
    );
    ranked.sort((a, b) => a.rank - b.rank || a.callback.callbackid - b.callback.callbackid);
    return ranked.map(({ callback }) => callback);
  }

  /** Our recorded callback for an event that led here and is no longer listed: deleted, or disabled. One that leads elsewhere may be another's now. */
  vanishedFor(event: string): Callback | undefined {
    const here = withoutToken(this.address);
    return this.vanished().find((callback) => callback.event === event && isSameAddress(callback.uri, here));
  }

  /** Our recorded callbacks that are no longer listed. */
  vanished(): Callback[] {
    return (this.#recorded ?? []).filter(({ callbackid }) => !this.#listed.has(callbackid));
  }

  leadsHere({ uri }: Callback): boolean {
    return isSameAddress(uri, this.address);
  }

  /** Whether it leads to the address that a rotation replaces. */
  #ledHere({ uri }: Callback): boolean {
    const { accountId, previousToken, publicUrl } = this.#options;
    return previousToken !== undefined && isSameAddress(uri, callbackAddress(publicUrl, accountId, previousToken));
  }

  /** Which of our path tokens an address contains. */
  #tokenIn({ uri }: Callback): Secret | undefined {
    const { accountId, pathToken, previousToken } = this.#options;
    return [pathToken, previousToken].find((token) => token && containsToken(uri, accountId, token));
  }

  /** Records a callback that the service has just returned, even if the next list does not show it. */
  add(callback: Callback): void {
    const { callbackid } = callback;
    const named = callback.uri === '' ? { ...callback, uri: this.address } : callback;
    this.#listed.set(callbackid, named);
    const others = this.#recorded?.filter((known) => known.callbackid !== callbackid) ?? [];
    this.#recorded = [...others, { ...named, uri: withoutToken(named.uri) }];
  }

  /** Removes a callback that no longer exists. Its key stays valid for a while, because deliveries may still be on their way. */
  async forget(callbackid: number): Promise<void> {
    this.#listed.delete(callbackid);
    this.#recorded = this.#recorded?.filter((callback) => callback.callbackid !== callbackid);
    await this.#options.verifiers.retire(this.#options.accountId, callbackid);
  }

  /** Saves our callbacks to the mirror, for its readers and for the next check. */
  async record(): Promise<void> {
    const ours = [...this.all(), ...this.vanished().map((callback) => ({ ...callback, verified: false }))];
    this.#recorded = ours.map((callback) => ({ ...callback, uri: withoutToken(callback.uri) }));
    const { accountId, log, mirror } = this.#options;
    await mirror.callbacks.replaceCallbacks(accountId, this.#recorded);
    const found = await mirror.callbacks.replaceUnknown(
      accountId,
      this.#unknown.map(({ callbackid }) => callbackid),
    );
    if (found.length > 0)
      log.warn(
        { account: accountId, callbacks: found },
        `${unknownCallbacksText(found)} ${unknownCallbacksRemedy(found, accountId)}`,
      );
  }

  /** One that the service shows without its address is known by its id: during a rotation it may lead to the address before. */
  #named(callback: Callback): Callback {
    const { accountId, previousToken, publicUrl } = this.#options;
    const known = this.#recorded?.find(({ callbackid }) => callbackid === callback.callbackid);
    if (callback.uri !== '' || !known) return callback;
    const isHere = isSameAddress(known.uri, withoutToken(this.address));
    const address = previousToken ? callbackAddress(publicUrl, accountId, previousToken) : this.address;
    return { ...callback, uri: isHere ? address : known.uri };
  }

  #isOurs(callback: Callback): boolean {
    const isRecorded = this.#recorded?.some(({ callbackid }) => callbackid === callback.callbackid);
    return this.#tokenIn(callback) !== undefined || (isRecorded === true && this.#isBelowPublicUrl(callback));
  }

  #isBelowPublicUrl({ uri }: Callback): boolean {
    const { publicUrl, accountId } = this.#options;
    return isBelow(uri, publicUrl, accountId);
  }
}
