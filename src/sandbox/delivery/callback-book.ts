/** The registered callbacks of one account, and their states. */
import type { CallbackRecord, AccountMemory } from '../core/memory.ts';
import type { SeededRandom } from '../core/random.ts';
import type { World } from '../core/worlds.ts';

const firstId = 2_001;
const alphabet = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const anyText = `${alphabet} \t"'\\/+%&=;,:{}[]äßЖ東`;

export class CallbackBook {
  readonly #callbacks = new Map<number, CallbackRecord>();
  readonly #random: SeededRandom;
  readonly #memory: AccountMemory;
  readonly #account: string;
  readonly #codes: World['code'];
  #nextId = firstId;

  constructor(random: SeededRandom, account: string, memory: AccountMemory, codes: World['code']) {
    this.#random = random;
    this.#codes = codes;
    this.#account = account;
    this.#memory = memory;
    for (const entry of memory.entries) {
      if (entry.kind !== 'callback') continue;
      if (entry.value) this.#callbacks.set(entry.key, entry.value);
      this.#nextId = Math.max(this.#nextId, entry.key + 1);
    }
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
    if (this.#callbacks.delete(id))
      this.#memory.write({ kind: 'callback', account: this.#account, key: id, value: null });
  }

  #code(): string {
    if (this.#codes === 'any') return this.#random.text(4 + this.#random.below(400), anyText);
    return this.#random.text(30 + this.#random.below(5), alphabet);
  }

  #write(callback: CallbackRecord): CallbackRecord {
    this.#callbacks.set(callback.id, callback);
    this.#memory.write({ kind: 'callback', account: this.#account, key: callback.id, value: callback });
    return callback;
  }
}
