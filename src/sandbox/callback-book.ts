/** The registered callbacks of one account, and their states (reference 3.2). */
import type { Chance } from './chance.ts';

export interface CallbackRecord {
  readonly id: number;
  readonly event: string;
  readonly uri: string;
  readonly verified: boolean;
  /** Disabled by the service after a long time of failures only. */
  readonly disabled: boolean;
  /** The code sent last: the secret of signatures. */
  readonly verifier: string;
  /** Milliseconds since 1970. */
  readonly updated: number;
}

const firstId = 2_001;
const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

export class CallbackBook {
  readonly #callbacks = new Map<number, CallbackRecord>();
  readonly #throws: Chance;
  #nextId = firstId;

  constructor(throws: Chance) {
    this.#throws = throws;
  }

  all(): CallbackRecord[] {
    return [...this.#callbacks.values()];
  }

  get(id: number): CallbackRecord | undefined {
    return this.#callbacks.get(id);
  }

  add(at: number, event: string, uri: string): CallbackRecord {
    const id = this.#nextId;
    this.#nextId += 1;
    return this.#write({ id, event, uri, verified: false, disabled: false, verifier: this.#code(), updated: at });
  }

  /** True if the code is the one sent last; the callback is verified then. */
  verify(at: number, callback: CallbackRecord, code: string): boolean {
    if (code !== callback.verifier) return false;
    this.#write({ ...callback, verified: true, updated: at });
    return true;
  }

  /** Makes the callback unverified and enabled, with a new code or the one that it has, which has to be verified. */
  renew(at: number, callback: CallbackRecord, code: 'new' | 'same' = 'new'): CallbackRecord {
    const verifier = code === 'new' ? this.#code() : callback.verifier;
    return this.#write({ ...callback, verified: false, disabled: false, verifier, updated: at });
  }

  disable(at: number, id: number): void {
    const callback = this.#callbacks.get(id);
    if (callback) this.#write({ ...callback, disabled: true, updated: at });
  }

  remove(id: number): void {
    this.#callbacks.delete(id);
  }

  /** 30 to 34 letters and digits, as captured. */
  #code(): string {
    return this.#throws.text(30 + this.#throws.below(5), letters);
  }

  #write(callback: CallbackRecord): CallbackRecord {
    this.#callbacks.set(callback.id, callback);
    return callback;
  }
}
