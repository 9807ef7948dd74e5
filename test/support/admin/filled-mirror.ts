/** A mirror of any size with a year of history, filled by SQL, and the operator's pages over it. */
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { AdminOptions } from '../../../src/admin/admin-server.ts';
import { systemClock, systemRandom } from '../../../src/domain/clock.ts';
import { SqliteDatabase } from '../../../src/store/sqlite/database.ts';
import { mirrorOptions } from '../../../src/store/reader.ts';
import { adminOf } from '../../bench/setup/admin-of.ts';
import { fillYear } from '../../bench/setup/year-of-history.ts';
import { migrations, temporaryFolder } from '../mirror-file.ts';
import { recordActions, type RecordedActions } from './recorded-actions.ts';

/** A mirror of accounts with so many vendors, each with a year behind it. @returns the path of the file. */
export async function fillMirror(...vendors: readonly [number, ...number[]]): Promise<string> {
  const path = join(temporaryFolder(), 'vendors.db');
  for (const [index, many] of vendors.entries()) await fillYear(path, migrations, many, accounts[index]);
  return path;
}

/** The names of the first account, and of a second one. */
const accounts = ['6BApk', 'other'];

export interface Shown {
  readonly url: string;
  /** Stops the server, as if the daemon had died. */
  readonly stop: () => Promise<void>;
  readonly faults: unknown[];
  /** What was asked of the daemon. */
  readonly asked: RecordedActions['asked'];
  /** Changes the mirror as the daemon would. */
  readonly change: (sql: string) => Promise<void>;
}

/** The pages over a mirror, on a free port. */
export async function showMirror(
  path: string,
  settings: Partial<AdminOptions['settings']> = {},
  targets: readonly string[] = [],
  served = 1,
): Promise<Shown> {
  const faults: unknown[] = [];
  const actions = recordActions(accounts, 3);
  const admin = await adminOf(path, accounts.slice(0, served), {
    settings,
    targets,
    actions,
    onFault: (error) => faults.push(error),
  });
  onTestFinished(() => admin.stop());
  return {
    url: `http://127.0.0.1:${admin.port}/`,
    stop: () => admin.stopAnswering(),
    faults,
    asked: actions.asked,
    async change(sql) {
      const database = await SqliteDatabase.open(
        mirrorOptions({ path, migrations, clock: systemClock, random: systemRandom }),
      );
      await database.write(() => database.sqlite.exec(sql));
      await database.close();
    },
  };
}
