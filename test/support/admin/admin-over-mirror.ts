/** An admin server over a mirror that is filled row by row. */
import { join } from 'node:path';
import { systemClock, type Clock } from '../../../src/domain/clock.ts';
import type { Query } from '../../../src/store/sql/statement.ts';
import { readMirror, temporaryFolder, writeMirror, type Rows } from '../mirror-file.ts';
import { startAdmin, type Admin } from './admin-requests.ts';

export interface AdminOverMirror extends Admin {
  readonly path: string;
  /** The turns in which the mirror was asked. */
  readonly turns: () => number;
  readonly fill: (rows: Rows) => Promise<void>;
}

export async function adminOverMirror(rows: Rows, clock: Clock = systemClock): Promise<AdminOverMirror> {
  const path = join(temporaryFolder(), 'vendors.db');
  await writeMirror(path, clock, rows);
  const mirror = readMirror(path, clock);
  let turns = 0;
  const query: Query = (report) => {
    turns += 1;
    return mirror.read(() => report(mirror.connection));
  };
  const admin = await startAdmin({}, undefined, clock, undefined, query);
  return { ...admin, path, turns: () => turns, fill: (more) => writeMirror(path, clock, more) };
}
