/** What depends on where a mirror is kept: in a file, or in a schema of PostgreSQL; and what is asked of it before it is opened, or beside it. */
import type { MirrorError } from '../../domain/errors.ts';
import type { ProcessesThere, ProcessLock, Roles, ServingProcess, Work } from '../../domain/processes.ts';
import type { Publication } from '../../settings/export-format.ts';
import type { Exported } from '../export/formats.ts';
import type { ExportedMirror, ProcessOptions } from '../export/write-export.ts';
import type { DaemonEpoch, LeftRecord } from '../files/identity.ts';
import type { Move } from '../files/moved.ts';
import type { Standby } from '../postgres/processes.ts';
import type { Database } from '../sql/database.ts';
import type { KeptAccounts, Settings } from '../../settings/parse.ts';
import type { AccountOfConnection } from '../../settings/shape.ts';
import { keptAccountsAt, knownConnectionsAt } from '../reports/known-accounts.ts';

/** In bytes. */
export interface MirrorSizes {
  readonly databaseBytes: number;
  /** Size of the journal beside a file; 0 where there is none. */
  readonly walBytes: number;
  /** Free disk space; `Infinity` where the disk is not this machine's. */
  readonly freeBytes: number;
}

export interface Place {
  readonly database: Database;
  /** This process among those that use the mirror. */
  readonly process: ProcessLock;
  sizes(): MirrorSizes;
  /** Checks that it is still what was opened. @throws MirrorError `database_unusable`, `already_running`. */
  assertOurs(): void;
  /**
   * Makes this process the daemon, which writes nothing more once another one has taken over.
   * @param secrets path of the secrets file
   * @param standby of a mirror in PostgreSQL: waits while another daemon is there, instead of being refused
   * @returns the daemon's epoch, and what the previous daemon left.
   */
  beginDaemon(secrets: string, standby?: Standby): Promise<{ epoch: DaemonEpoch; left: LeftRecord }>;
  /** Says what this process does as a daemon, where there may be several. */
  serve(roles: Roles): Promise<void>;
  /** Who works, as far as this process knows; null where the mirror is a file, of which its daemon does everything. */
  work(): Work | null;
  /** As `ProcessesThere.serving`. */
  serving(): Promise<readonly ServingProcess[] | null>;
  /** Whether the process of that random name uses this mirror now. */
  isThere(process: string): Promise<boolean>;
  /** Records that the daemon stopped normally, or that another may work from now on. */
  endDaemon(): Promise<void>;
  /** Copies the journal into the file, as far as no reader holds it, so that the file alone is not far behind. */
  copyJournal(): Promise<void>;
  /** Why deliveries cannot be stored now, as far as can be checked without writing; undefined while they can. */
  trouble(): MirrorError | undefined;
  /** Why unattended sweeps should wait, because free space is reserved for deliveries; undefined while there is enough. */
  noSpaceForSweep(): MirrorError | undefined;
  /** Reads no rows. @throws MirrorError `usage` where there is no such view, or the query is not one that reads, or loses columns. */
  assertPublishable(publication: Publication): Promise<void>;
  /** Writes an export for readers from one consistent state, replacing the file atomically; stops when the signal is aborted. */
  publish(publication: Publication, options: ProcessOptions): Promise<Exported>;
  close(): Promise<void>;
}

/** The same for who only reads it. */
export interface ReadPlace {
  readonly database: Database;
  /** What exports read. */
  readonly exported: ExportedMirror;
  /** Where the mirror was moved to; undefined while it is here. */
  moved(): Promise<Move | undefined>;
  sizes(): Promise<Pick<MirrorSizes, 'databaseBytes' | 'walBytes'>>;
  /** The result of the engine's check of what is stored; empty where it is sound, or the engine has none. */
  faults(): Promise<string[]>;
  /** The error of a write that another program keeps from beginning; undefined where it can begin, and where that cannot be tried. */
  heldLock(): MirrorError | undefined;
  processes(): Promise<ProcessesThere>;
}

type Kept = Pick<Settings, 'database' | 'postgres'>;

const onServer = () => import('../postgres/glimpse.ts');

/** The accounts that were added or paused by command. @throws MirrorError `database_locked`, `postgres_failed`, `postgres_refused`. */
export async function keptAccountsOf({ database, postgres }: Kept): Promise<KeptAccounts> {
  return postgres ? (await onServer()).keptAccountsOn(postgres) : keptAccountsAt(database);
}

/** All accounts of the mirror, with the connection that last gave access to each. @throws MirrorError as `keptAccountsOf`. */
export async function knownConnectionsOf({ database, postgres }: Kept): Promise<AccountOfConnection[]> {
  return postgres ? (await onServer()).knownConnectionsOn(postgres) : knownConnectionsAt(database);
}
