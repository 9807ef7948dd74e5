/** A mirror file to be opened, and another program that has it open, too. */
import Driver from 'better-sqlite3';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { systemRandom } from '../../src/domain/clock.ts';
import { Database } from '../../src/store/sqlite/database.ts';
import { mirrorOptions } from '../../src/store/files/mirror-options.ts';
import { migrations, temporaryFolder } from './mirror-file.ts';
import { virtualClock } from './virtual-clock.ts';

export const clock = virtualClock({ auto: true });

/** Where no file is yet. */
export function place(): string {
  return join(temporaryFolder(), 'vendors.db');
}

export async function open(path: string, from = migrations): Promise<Database> {
  const database = await Database.open(mirrorOptions({ path, migrations: from, clock, random: systemRandom }));
  onTestFinished(() => database.close());
  return database;
}

/** What is said where a file cannot be opened. */
export async function refusal(path: string, from = migrations): Promise<unknown> {
  return open(path, from).then(
    () => 'opened',
    (error: unknown) => error,
  );
}

/** A connection of another program. */
export function stranger(path: string): Driver.Database {
  const other = new Driver(path, { timeout: 0 });
  onTestFinished(() => void other.close());
  return other;
}

/** Names of all that a file holds. */
export function names(path: string): unknown[] {
  return stranger(path).prepare('SELECT name FROM sqlite_schema').pluck().all();
}
