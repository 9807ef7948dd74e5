/**
 * Which of an account's callbacks are ours: those whose address holds our path token, and those that we remember having registered
 * below our public address. Nothing else is ever touched (P9): another installation may have its own.
 */
import type { CallbacksApi } from '../../api/callbacks.ts';
import type { Secret } from '../../domain/log.ts';
import type { Verifiers } from '../../store/secrets/verifiers.ts';
import type { Callback } from '../../domain/vendor.ts';
import { addressPrefix, callbackAddress, holdsToken, withoutToken } from '../address.ts';
import type { Store } from '../../store/store.ts';

export interface OwnCallbacksOptions {
  readonly accountId: string;
  readonly publicUrl: string;
  readonly pathToken: Secret;
  readonly callbacks: CallbacksApi;
  readonly mirror: Pick<Store, 'callbacks'>;
  readonly verifiers: Verifiers;
}

export class OwnCallbacks {
  /** What our callbacks are registered for. It holds a secret. */
  readonly address: string;
  readonly #options: OwnCallbacksOptions;
  #listed = new Map<number, Callback>();
  #remembered: Callback[] | undefined;

  constructor(options: OwnCallbacksOptions) {
    this.#options = options;
    this.address = callbackAddress(options.publicUrl, options.accountId, options.pathToken);
  }

  /** Asks the service for all callbacks, and picks ours. */
  async refresh(signal: AbortSignal): Promise<void> {
    const { accountId, callbacks, mirror } = this.#options;
    this.#remembered ??= await mirror.callbacks.knownCallbacks(accountId);
    const listed = await callbacks.list({}, { signal });
    this.#listed = new Map(
      listed.filter((callback) => this.#isOurs(callback)).map((callback) => [callback.callbackid, callback]),
    );
  }

  /** Ours as listed, wherever they lead. */
  all(): Callback[] {
    return [...this.#listed.values()];
  }

  /** Ours for an event that lead here: the one with a known key first, then verified ones, then the oldest. */
  async for(event: string): Promise<Callback[]> {
    const { accountId, verifiers } = this.#options;
    const ranked = await Promise.all(
      this.all()
        .filter((callback) => callback.event === event && this.leadsHere(callback))
        .map(async (callback) => {
          const held = await verifiers.holds(accountId, callback.callbackid);
          return { callback, rank: (callback.verified ? 0 : 2) + (held ? 0 : 1) };
        }),
    );
    ranked.sort((a, b) => a.rank - b.rank || a.callback.callbackid - b.callback.callbackid);
    return ranked.map(({ callback }) => callback);
  }

  /** Ours that are not listed any more: deleted, or disabled. */
  vanished(): Callback[] {
    return (this.#remembered ?? []).filter(({ callbackid }) => !this.#listed.has(callbackid));
  }

  leadsHere({ uri }: Callback): boolean {
    return uri === this.address || (URL.canParse(uri) && new URL(uri).href === new URL(this.address).href);
  }

  /** A callback as the service has just shown it. It is remembered from now on, whatever the next list shows. */
  see(callback: Callback): void {
    const { callbackid, uri } = callback;
    this.#listed.set(callbackid, callback);
    const others = this.#remembered?.filter((known) => known.callbackid !== callbackid) ?? [];
    this.#remembered = [...others, { ...callback, uri: withoutToken(uri) }];
  }

  /** The callback is no more; deliveries that it sent may still be on their way. */
  async lose(callbackid: number): Promise<void> {
    this.#listed.delete(callbackid);
    this.#remembered = this.#remembered?.filter((callback) => callback.callbackid !== callbackid);
    await this.#options.verifiers.retire(this.#options.accountId, callbackid);
  }

  /** Writes down what is ours, for readers of the mirror and for the next look. */
  async record(): Promise<void> {
    const ours = [...this.all(), ...this.vanished().map((callback) => ({ ...callback, verified: false }))];
    this.#remembered = ours.map((callback) => ({ ...callback, uri: withoutToken(callback.uri) }));
    await this.#options.mirror.callbacks.replaceCallbacks(this.#options.accountId, this.#remembered);
  }

  #isOurs(callback: Callback): boolean {
    const { accountId, pathToken } = this.#options;
    const remembered = this.#remembered?.some(({ callbackid }) => callbackid === callback.callbackid);
    return holdsToken(callback.uri, accountId, pathToken) || (remembered === true && this.#isBelowUs(callback));
  }

  #isBelowUs({ uri }: Callback): boolean {
    const { publicUrl, accountId } = this.#options;
    return uri.startsWith(addressPrefix(publicUrl, accountId));
  }
}
