/** A question to a file, as whoever asks it holds it: without the file. */
import type { Sqlite } from './driver.ts';

/** Asks against one consistent state. */
export type Query = <T>(report: (sqlite: Sqlite) => T) => Promise<T>;
