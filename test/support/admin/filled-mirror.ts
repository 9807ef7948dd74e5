/** A mirror of any size with a year of history, filled by SQL, and the operator's pages over it. */
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createAdminServer, type AdminOptions } from '../../../src/admin/admin-server.ts';
import { Metrics } from '../../../src/admin/metrics/metrics.ts';
import { healthSource } from '../../../src/app/health-source.ts';
import { systemClock, systemRandom } from '../../../src/domain/clock.ts';
import { FiguresThread } from '../../../src/store/figures/figures-thread.ts';
import { lockProcess } from '../../../src/store/files/process-lock.ts';
import { openMirror } from '../../../src/store/open/sqlite-store.ts';
import { Database } from '../../../src/store/sqlite/database.ts';
import { mirrorOptions } from '../../../src/store/files/mirror-options.ts';
import { compiled } from '../source/compiled.ts';
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
export async function showMirror(path: string, settings: Partial<AdminOptions['settings']> = {}): Promise<Shown> {
  const mirror = await openMirror({ path, migrations, clock: systemClock, random: systemRandom, lockProcess });
  const figures = new FiguresThread(compiled.figures, path);
  const faults: unknown[] = [];
  const actions = recordActions([account], 3);
  const server = createAdminServer({
    settings: { host: '127.0.0.1', port: 0, publicUrl: null, token: null, maxStaleness: 7_200_000, ...settings },
    source: healthSource({
      targets: [],
      version: '0.0.0',
      startedAt: systemClock.now(),
      mirror,
      secrets: mirror,
      connections: { names: ['default'], of: () => 'default' },
      supervisors: new Map([[account, { watchdog: 'hearing', doubt: null, progress: null }]]),
      clock: systemClock,
      listener: { listening: true },
      machine: () => ({ rssBytes: 0, eventLoopLagSeconds: 0 }),
      next: () => ({ pull: undefined, reconcile: systemClock.now() + 600_000 }),
    }),
    query: (report) => mirror.query(report),
    figures: (id) => figures.read(id),
    actions,
    assetFolder: compiled.pages,
    metrics: new Metrics(),
    clock: systemClock,
    onFault: (error) => faults.push(error),
  });
  await server.start();
  const url = `http://127.0.0.1:${server.address.port}/`;
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= server.stop());
  onTestFinished(async () => {
    await stop();
    await figures.stop();
    await mirror.close();
  });
  return {
    url,
    stop,
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
