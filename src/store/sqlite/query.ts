/** A question to a file, as whoever asks it holds it: without the file. */
import type { Sqlite } from './driver.ts';

/** One consistent state of a file. Above `store/` it is handed on to reports, and nothing else is done with it. */
export type Snapshot = Sqlite;

/** Asks against one consistent state. */
export type Query = <T>(report: (snapshot: Snapshot) => T) => Promise<T>;
