/** What a sandbox knows when it is started again. */
import type { CallbackRecord } from './callback-record.ts';
import type { GatewayRecord } from './gateway-record.ts';
import type { VendorRecord } from './vendor-record.ts';

/** How one thing is now; null where it is gone for good. Whatever an earlier entry says of the same thing no longer holds. */
export type Entry =
  /** With how many vendors an account began. */
  | { readonly kind: 'account'; readonly account: string; readonly value: number }
  | { readonly kind: 'vendor'; readonly account: string; readonly key: number; readonly value: VendorEntry | null }
  | { readonly kind: 'callback'; readonly account: string; readonly key: number; readonly value: CallbackRecord | null }
  | { readonly kind: 'gateway'; readonly account: string; readonly key: number; readonly value: GatewayRecord | null }
  | { readonly kind: 'token'; readonly key: string; readonly value: TokenEntry | null }
  | { readonly kind: 'refresh'; readonly key: string; readonly value: true | null };

export interface VendorEntry {
  readonly record: VendorRecord;
  readonly version: number;
}

export interface TokenEntry {
  readonly scopes: readonly string[];
  readonly accounts: readonly string[] | undefined;
  readonly expires: number | undefined;
}

export interface Memory {
  /** The sandbox's own name, whatever its port. */
  readonly id: string;
  /** The seed that it was made from. */
  readonly seed: string;
  /** How often it was started, this time included: chance must not repeat what was drawn before. */
  readonly life: number;
  /** One for each thing that is known. */
  readonly entries: readonly Entry[];
  readonly write: (entry: Entry) => void;
}

/** The part of a memory that is about one account. */
export interface AccountMemory {
  readonly entries: readonly Entry[];
  readonly write: (entry: Entry) => void;
}

/** What an account is to remember; nothing is kept without a memory. */
export function accountMemory(memory: Memory | undefined, account: string): AccountMemory {
  if (!memory) return { entries: [], write: () => undefined };
  return {
    entries: memory.entries.filter((entry) => 'account' in entry && entry.account === account),
    write: memory.write,
  };
}
