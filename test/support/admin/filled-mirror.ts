/** A mirror of any size with a year of history, filled by SQL, and the operator's pages over it. */
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { AdminOptions } from '../../../src/admin/admin-server.ts';
import { systemClock, systemRandom } from '../../../src/domain/clock.ts';
import { Database } from '../../../src/store/sqlite/database.ts';
import { mirrorOptions } from '../../../src/store/reader.ts';
import { adminOf } from '../../bench/setup/admin-of.ts';
import { fillYear } from '../../bench/setup/year-of-history.ts';
import { migrations, temporaryFolder } from '../mirror-file.ts';
import { recordActions, type RecordedActions } from './recorded-actions.ts';

const account = '6BApk';

/** A mirror of so many vendors, with a year behind it. @returns the path of the file. */
export async function fillMirror(vendors: number): Promise<string> {
  const path = join(temporaryFolder(), 'vendors.db');
  await fillYear(path, migrations, vendors);
  return path;
}

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
): Promise<Shown> {
  const faults: unknown[] = [];
  const actions = recordActions([account], 3);
  const admin = await adminOf(path, [account], { settings, targets, actions, onFault: (error) => faults.push(error) });
  onTestFinished(() => admin.stop());
  return {
    url: `http://127.0.0.1:${admin.port}/`,
    stop: () => admin.stopAnswering(),
    faults,
    asked: actions.asked,
    async change(sql) {
      const database = await Database.open(
        mirrorOptions({ path, migrations, clock: systemClock, random: systemRandom }),
      );
      await database.write(() => database.sqlite.exec(sql));
      await database.close();
    },
  };
}
