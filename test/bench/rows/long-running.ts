/** What large files cost: a start after a daemon was killed, the removal of old rows, an update from the first version. */
import { join } from 'node:path';
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import { inTurn, type Row, type Sizes } from './figures.ts';
import { daemonSettings, startDaemon } from '../setup/daemon.ts';
import { withFolder } from '../setup/folder.ts';
import { finished } from '../jobs/host.ts';
import { program } from '../setup/installation.ts';
import type { MigrationResult } from '../program/migration.ts';
import type { OldRowsResult } from '../program/old-rows.ts';
import { run } from './programs.ts';
import { withService } from './pulls.ts';

/** In milliseconds. */
const longestDelay = 100;

const fewVendors = 100;

export const longLifeRows: readonly Row[] = [
  {
    name: 'start',
    work: 'start of `serve` until both ports are open, after a daemon that was killed',
    baseline: `the same with ${fewVendors} vendors`,
    goal: { atMost: 1.5 },
    measure: async (sizes) => ({
      unit: 'ms',
      ...(await inTurn(
        sizes.samples,
        () => start(sizes),
        () => start({ ...sizes, vendors: fewVendors }),
      )),
    }),
  },
  {
    name: 'removal',
    work: 'the longest delay while old rows are removed',
    baseline: 'of an idle process',
    goal: { atMost: 50 },
    async measure({ host, samples, vendors, perPage }) {
      const taken = { ours: [] as number[], baseline: [] as number[] };
      while (taken.ours.length < samples)
        await withFolder(async (folder) => {
          const place = { baseUrl: 'http://127.0.0.1:1', folder, perPage };
          const { removing, idle } = (await finished(host, 'old-rows', { ...place, vendors })) as OldRowsResult;
          taken.ours.push(removing);
          taken.baseline.push(idle);
        });
      const most = Math.max(...taken.ours);
      return {
        unit: 'ms',
        ...taken,
        also: [{ what: `${most.toFixed(0)} ms at most`, goal: `under ${longestDelay}`, met: most < longestDelay }],
      };
    },
  },
  {
    name: 'migrate',
    work: 'a mirror of version 0.1.0 brought up to date, with as many deliveries as vendors',
    baseline: 'the same file written anew (VACUUM)',
    goal: { atMost: 2 },
    async measure({ host, samples, vendors }) {
      const taken = { ours: [] as number[], baseline: [] as number[] };
      const seen: MigrationResult[] = [];
      while (taken.ours.length < samples)
        await withFolder(async (folder) => {
          const result = (await finished(host, 'migration', { folder, vendors })) as MigrationResult;
          taken.ours.push(result.took);
          taken.baseline.push(result.rewriting);
          seen.push(result);
        });
      const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;
      const most = Math.max(...seen.map(({ more }) => more));
      const asked = Math.min(...seen.map((result) => result.asked));
      return {
        unit: 'ms',
        ...taken,
        also: [
          {
            what: `${megabytes(most)} more for a while`,
            goal: `what is asked for, ${megabytes(asked)}`,
            met: most <= asked,
          },
        ],
        notes: seen
          .slice(-1)
          .map(
            ({ bytes, progressReports }) =>
              `${vendors} vendors, ${megabytes(bytes)}; progress was reported ${progressReports} times`,
          ),
      };
    },
  },
];

/** Milliseconds from the start of the process until it says that it serves. */
function start(sizes: Sizes): Promise<number> {
  return withService(sizes, ({ result: { baseUrl } }) =>
    withFolder(async (folder) => {
      const settings = daemonSettings({ baseUrl, folder, perPage: sizes.perPage });
      await run([program, 'sync', '-c', settings]);
      callKilled(join(folder, 'vendors.db'));
      const daemon = await startDaemon(settings);
      await daemon.stop();
      return daemon.ms;
    }),
  );
}

/** Leaves the mirror as a daemon does that was killed. */
function callKilled(path: string): void {
  const sqlite = new Driver(path);
  sqlite.exec("INSERT INTO _daemon_files (file, inode) VALUES ('mirror', '1')");
  sqlite.close();
}
