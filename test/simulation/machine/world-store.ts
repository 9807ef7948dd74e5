/** Where a world keeps its mirror, whichever engine holds it: what the program meets there, and how the oracles see it from outside. */
import type { Settings } from '../../../src/settings/parse.ts';
import type { Sealing } from '../../../src/store/secrets/sealing.ts';
import type { ProcessClock } from './process-clock.ts';

export type Value = string | number;

/** Somebody who asks while the program writes. Questions are written for both engines, and values are those that SQLite gives. */
export interface Reader {
  /** Whether there is no table yet: a process died before its first migration. */
  readonly isEmpty: boolean;
  rows<Row>(sql: string, ...values: Value[]): Row[];
  /** Asks several questions of one state, which costs less than one state for each. */
  together(ask: () => void): void;
  close(): void;
}

/** Where a transaction that writes can be broken off. */
export type Edge = 'beforeCommit' | 'afterCommit';

/** What becomes there of the process, or of its connection. */
export type Fate = 'goes on' | 'dies' | 'is cut off';

/** A process, as its store knows it. */
export interface StoreUser {
  readonly clock: ProcessClock;
  /** Its transaction has come to an edge. If it dies there, it is dead when this returns. */
  edge(where: Edge): Fate;
}

/** What can be done to a server. */
export interface Server {
  /** It ends all sessions, and is there again after so many milliseconds. */
  restart(ms: number): void;
  /** All sessions end, as where a network goes away for a moment. */
  cutAll(): void;
}

/** What a process was given. */
export interface Use {
  /** The settings by which it finds its store. */
  readonly settings: Settings;
  /** It has started, or failed to. */
  started(): void;
  /** The process is dead: nothing of it reaches the store any more. */
  end(): void;
}

export interface WorldStore {
  /** Until when somebody else holds the lock, and until when the disk is full: milliseconds of the timeline. */
  lockedUntil: number;
  fullUntil: number;
  /** Undefined where files keep the mirror. */
  readonly server: Server | undefined;
  /** How the values of secrets are written. */
  readonly sealing: Sealing;
  use(user: StoreUser): Use;
  /** To be closed, because an open one is in the way of whoever wants the file alone. @returns undefined where nothing is yet. */
  reader(of: 'mirror' | 'secrets'): Reader | undefined;
  /** Places of the mirror that hold one of these texts. */
  holding(texts: readonly string[]): string[];
  /** Resolves when everything has happened that happens by itself, and time may pass. */
  settled(): Promise<void>;
  close(): void;
}
