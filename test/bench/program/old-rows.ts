/** How long the event loop stands still while the daemon removes old rows, and while it does nothing. */
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as later } from 'node:timers/promises';
import { createMaintenance } from '../../../src/app/background/maintenance.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { createLog } from '../../../src/domain/log.ts';
import { open, type Place } from '../setup/installation.ts';
import type { JobResult } from '../setup/job.ts';

export interface OldRowsParams extends Place {
  readonly vendors: number;
}

/** The longest delays, in milliseconds. */
export interface OldRowsResult {
  readonly removing: number;
  readonly idle: number;
}

const day = 86_400_000;

/** So many of a hundred versions are closed. */
const closed = 10;

export async function job({ vendors, ...place }: OldRowsParams): Promise<JobResult> {
  const installation = await open(place);
  const { mirror, secrets } = installation;
  fill(mirror.path, vendors);
  const idle = await longestDelay(() => later(1_000));
  const removing = await longestDelay(
    () =>
      new Promise<void>((resolve) => {
        const maintenance = createMaintenance({
          mirror,
          secrets,
          retention: { deliveries: day, versions: day },
          clock: systemClock,
          log: createLog('info', {
            write: (line) => line.includes('old rows were removed') && void maintenance.stop().then(resolve),
          }),
        });
        void maintenance.start();
      }),
  );
  await installation.close();
  const result: OldRowsResult = { removing, idle };
  return { result };
}

/** A version of each vendor, some of them closed long ago, and as many deliveries, all settled. */
function fill(path: string, vendors: number): void {
  const sqlite = new Driver(path);
  sqlite.exec(`BEGIN;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${vendors})
    INSERT INTO _vendor_versions (account_id, vendorid, valid_from, valid_to, vis_state_source, presence, changed_fields, source, raw)
    SELECT 'one', i, '2020-01-01', iif(i % 100 < ${closed}, '2020-02-02', NULL), 'reported', 'present', '[]', 'pull',
      json_object('note', hex(zeroblob(400))) FROM n;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${vendors})
    INSERT INTO deliveries (account_id, received_at, name, object_id, outcome)
    SELECT 'one', '2020-01-01', 'bill_vendor.update', i % 1000, 'applied' FROM n;
    COMMIT;
    PRAGMA wal_checkpoint(TRUNCATE)`);
  sqlite.close();
}

async function longestDelay(work: () => Promise<unknown>): Promise<number> {
  const delays = monitorEventLoopDelay({ resolution: 1 });
  // What the work before has left to do is done first.
  await later(50);
  delays.enable();
  await work();
  delays.disable();
  return delays.max / 1e6;
}
