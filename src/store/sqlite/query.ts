/** Access to one consistent state of a file, without the connection itself. */
import type { Sqlite } from './driver.ts';

/** One consistent state of a file. Code above `store/` only passes it to reports. */
export type Snapshot = Sqlite;

/** Runs a report on one consistent state. */
export type Query = <T>(report: (snapshot: Snapshot) => T) => Promise<T>;
