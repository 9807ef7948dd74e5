/** What depends on where secrets are kept: in a file, or in a schema of PostgreSQL. */
import type { MirrorError } from '../../domain/errors.ts';
import type { DaemonEpoch, LeftRecord } from '../files/identity.ts';
import type { Database } from '../sql/database.ts';

/** A mirror that uses the secrets: its identity, and where it is. */
export interface Owner {
  readonly mirrorId: string;
  readonly path: string;
  /** The path of the mirror that this one stands in for, until it is removed soon: then it only must not meet a third one. */
  readonly standsInFor?: string | undefined;
}

/** How processes know that another one replaces a token pair. */
export interface LeaseRule {
  /** The time that leases are measured by, in milliseconds; the same to all processes that share the secrets. Runs inside a transaction. */
  now(): number | Promise<number>;
  /** How much longer than a new lease one may last, in milliseconds; one that lasts even longer is of a time before the clock was set back. */
  readonly tolerance: number;
  /** Whether a lease ends with its process, by whose name its owner's begins. */
  readonly endsWithProcess: boolean;
  /** How long a lease lasts, in milliseconds. */
  readonly lasts: number;
  /** How often it is renewed while it is needed, in milliseconds; undefined where it lasts longer than any need. */
  readonly renewedEvery: number | undefined;
}

export interface SecretsPlace {
  readonly database: Database;
  readonly leases: LeaseRule;
  /** Why the secrets cannot be read now, as far as is known; undefined while they can. */
  trouble(): MirrorError | undefined;
  /** Checks that they are still what was opened. @throws MirrorError `database_unusable`, `already_running`. */
  assertOurs(): void;
  /** Makes a mirror the owner of the secrets. @throws MirrorError `secrets_taken` where another one is, and still exists. */
  claim(owner: Owner): Promise<void>;
  /**
   * Records the epoch of a daemon, in one transaction with `work`.
   * @returns whether the mirror is an older copy than the secrets know.
   */
  beginDaemon(epoch: DaemonEpoch, left: LeftRecord, work: () => Promise<void>): Promise<boolean>;
  /** Records that the daemon of that epoch stopped normally. */
  endDaemon(epoch: DaemonEpoch): Promise<void>;
  /** As `Place.copyJournal`. */
  copyJournal(): Promise<void>;
}
