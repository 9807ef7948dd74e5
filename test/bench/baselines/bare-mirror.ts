/** A new file with the mirror's tables, as durable as the mirror, and nothing between it and its driver. */
import { join } from 'node:path';
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import type { Sqlite } from '../../../src/store/sqlite/driver.ts';
import { migrate, readMigrations } from '../../../src/store/sqlite/migrate.ts';
import { migrations } from '../setup/installation.ts';

export function bareMirror(folder: string): Sqlite {
  const sqlite = new Driver(join(folder, 'bare.db'));
  sqlite.pragma('journal_mode = WAL');
  sqlite.pragma('synchronous = FULL');
  sqlite.pragma('foreign_keys = ON');
  migrate(sqlite, readMigrations(join(migrations, 'mirror')), Date.now());
  return sqlite;
}

/** How long work took, in milliseconds of the clock and of the processor. */
export async function timed(work: () => Promise<void>): Promise<{ readonly ms: number; readonly cpuMs: number }> {
  const [begun, used] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(used);
  return { ms: performance.now() - begun, cpuMs: (user + system) / 1_000 };
}
