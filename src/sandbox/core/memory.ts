/** What a sandbox keeps between two starts: vendors, gateways, callbacks and tokens. */
import type { VendorRecord } from './vendor-record.ts';
import type { World } from './worlds.ts';

/** The current state of one thing; null if it was removed. A later entry replaces earlier ones about the same thing. */
export type Entry =
  /** With how many vendors an account began. */
  | { readonly kind: 'account'; readonly account: string; readonly value: number }
  | { readonly kind: 'vendor'; readonly account: string; readonly key: number; readonly value: VendorEntry | null }
  | { readonly kind: 'callback'; readonly account: string; readonly key: number; readonly value: CallbackRecord | null }
  | { readonly kind: 'gateway'; readonly account: string; readonly key: number; readonly value: GatewayRecord | null }
  | { readonly kind: 'token'; readonly key: string; readonly value: TokenEntry | null }
  | { readonly kind: 'refresh'; readonly key: string; readonly value: RefreshEntry | null };

export interface VendorEntry {
  readonly record: VendorRecord;
  readonly version: number;
}

/**
 * What a refresh token grants; `true` if an older version issued it; `given` to a start, and not issued; `spent` if such a one was used, so
 * that no later start makes it valid again.
 */
export type RefreshEntry = IssuedRefresh | true | 'given' | 'spent';

export interface IssuedRefresh {
  readonly scopes: readonly string[];
  /** The only application that may use it. */
  readonly client: Client;
}

/** An application: its id, and the SHA-256 of its secret, base64url. */
export interface Client {
  readonly id: string;
  readonly secret: string;
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
  /** What its vendors are like: another choice would change those that are still as they were invented. */
  readonly records: World['records'];
  /** How often it was started, this time included: random values must not repeat after a restart. */
  readonly starts: number;
  /** One for each thing that is known. */
  readonly entries: readonly Entry[];
  readonly write: (entry: Entry) => void;
}

export type AccountMemory = Pick<Memory, 'entries' | 'write'>;

/** The memory of an account; without a memory, nothing is kept. */
export function accountMemory(memory: Memory | undefined, account: string): AccountMemory {
  if (!memory) return { entries: [], write: () => undefined };
  return {
    entries: memory.entries.filter((entry) => 'account' in entry && entry.account === account),
    write: memory.write,
  };
}

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

export interface GatewayRecord {
  readonly sgid: number;
  readonly connectionid: string;
  readonly gateway_name: string;
}
