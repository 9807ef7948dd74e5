/**
 * The processes that use a mirror, and what each may be for. They recognise each other by a random name, drawn at each start, and by a lock that
 * ends with the process, for whatever reason: of a file beside the mirror (`store/files/locks.ts`), or of a row of its schema
 * (`store/postgres/processes.ts`). Process ids would not work: every container counts its own.
 */
/** This process among those that use the same mirror. */
export interface ProcessLock {
  /** The random name of this process. */
  readonly name: string;
  /** Whether the process of that name still uses the mirror. Runs inside a transaction of it. */
  isAlive(name: string): boolean | Promise<boolean>;
  /** Releases the name of this process. */
  release(): void;
}

/** What a daemon is for. Of a mirror in a file, its one daemon does both. */
export interface Roles {
  readonly listens: boolean;
  /** One at a time works. */
  readonly mayWork: boolean;
}

/** Who works on a mirror that several daemons serve, as one of them sees it. */
export interface Work {
  readonly isHere: boolean;
  /** The machine of the daemon that works; null where none does. */
  readonly host: string | null;
}

/** One of the daemons that serve a mirror. */
export interface ServingProcess {
  /** The name of its machine. */
  readonly host: string;
  /** Of vendor-mirror. */
  readonly version: string;
  /** UTC. */
  readonly since: string;
  readonly works: boolean;
  readonly listens: boolean;
  /** Whether it works, or would where no other does. */
  readonly may_work: boolean;
}

/** Processes that use a mirror. */
export interface ProcessesThere {
  /** When the daemon began, in milliseconds since 1970; undefined where none runs. */
  readonly daemonSince: number | undefined;
  /** Whether the process of that name is there; undefined where that cannot be known. */
  isAlive(name: string): boolean | undefined;
  /** The daemons that serve it, those that began first before others; null where the mirror is a file, which has one at most. */
  readonly serving: readonly ServingProcess[] | null;
}

export const roleNames = ['listen', 'work'] as const;
export type Role = (typeof roleNames)[number];

export function isRole(name: string): name is Role {
  return roleNames.some((known) => known === name);
}

export function hasAllRoles(roles: readonly Role[]): boolean {
  return roleNames.every((name) => roles.includes(name));
}

/** Why one of a mirror in a file cannot do only a part. */
export const rolesOfFile = 'should be [listen, work], because database is a file, and its one daemon does both';
