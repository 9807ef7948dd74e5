import { existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeHistory } from '../../../src/cmd/sandbox-history.ts';
import type { ProcessContext } from '../../../src/cmd/process/process-context.ts';
import { MirrorError } from '../../../src/domain/errors.ts';
import { timestamp } from '../../../src/domain/clock.ts';
import { Sandbox } from '../../../src/sandbox/service.ts';
import { openWorldFile } from '../../../src/sandbox/world-file.ts';
import type { Settings } from '../../../src/settings/parse.ts';
import { differences } from '../../support/mirror/differences.ts';
import { ask, packageRoot, temporaryFolder } from '../../support/mirror-file.ts';
import { account, otherAccount } from '../../support/names.ts';
import { constantRandom } from '../../support/random.ts';
import { settingsIn } from '../../support/settings.ts';
import { virtualClock, type VirtualClock } from '../../support/virtual-clock.ts';

const dayMs = 86_400_000;
type Options = NonNullable<Settings['sandbox']>;

interface Place {
  readonly folder: string;
  readonly clock: VirtualClock;
  readonly interruption: AbortController;
  readonly database: string;
  readonly world: string;
  write(): Promise<boolean>;
  query<Row = Record<string, unknown>>(sql: string, ...values: unknown[]): Row[];
}

function place({ accounts = [account], ...over }: Partial<Options> & { accounts?: readonly string[] } = {}): Place {
  const folder = temporaryFolder();
  const options: Options = { vendors: 40, seed: 1, churn: 0, records: 'plain', history: 8, ...over };
  const settings = { ...settingsIn(folder, { accounts }), sandbox: options };
  const clock = virtualClock();
  const interruption = new AbortController();
  const context = { clock, random: constantRandom(), packageRoot, interrupted: interruption.signal };
  const world = `${settings.database}.world`;
  return {
    folder,
    clock,
    interruption,
    database: settings.database,
    world,
    write: () => writeHistory({ settings, options, context: context as unknown as ProcessContext }, world),
    query: (sql, ...values) => ask(settings.database, sql, ...values),
  };
}

describe('the history with which a sandbox begins', () => {
  it.each([
    { seed: 1, vendors: 130, history: 28 },
    { seed: 2, vendors: 30, history: 7 },
  ])('L84 of %o has money that can be on every day, and deliveries on all of them', async (options) => {
    const at = place(options);
    expect(await at.write()).toBe(true);
    const [begin, end] = [at.clock.now() - options.history * dayMs, at.clock.now()].map(timestamp);
    const [times] = at.query<{ first: string; last: string }>(
      'SELECT min(valid_from) AS first, max(valid_from) AS last FROM vendor_versions',
    );
    expect(times?.first).toBe(begin);
    expect(times!.last <= end!).toBe(true);
    expect(
      at.query(`SELECT * FROM _balance_spans
        WHERE coalesce(overdue_minor, 0) > coalesce(outstanding_minor, 0) OR overdue_minor < 0 OR outstanding_minor > 10000000`),
    ).toEqual([]);
    expect(at.query('SELECT 1 FROM _balance_spans WHERE overdue_minor > 0').length).toBeGreaterThan(3);
    const days = at.query<{ deliveries: number }>('SELECT deliveries FROM webhook_health WHERE deliveries > 0');
    expect(days.length).toBeGreaterThan(options.history * 0.6);
    expect(at.query("SELECT 1 FROM deliveries WHERE outcome <> 'applied'")).toEqual([]);
  });

  it('holds no run and claims no freshness, because none took place', async () => {
    const at = place();
    await at.write();
    expect(at.query('SELECT * FROM runs')).toEqual([]);
    expect(at.query('SELECT safe_as_of, last_complete_sweep FROM freshness')).toEqual([
      { safe_as_of: null, last_complete_sweep: null },
    ]);
    expect(at.query('SELECT * FROM findings')).toEqual([]);
    expect(at.query('SELECT * FROM _clock_set_back')).toEqual([]);
  });

  it('ends with a mirror that equals the world, of each account, under the name of that world', async () => {
    const at = place({ accounts: [account, otherAccount], history: 20 });
    await at.write();
    const memory = openWorldFile(at.world, 'another');
    const sandbox = new Sandbox(
      { accounts: [account, otherAccount], vendors: 1, memory },
      { clock: at.clock, post: () => Promise.resolve({ status: 200 }) },
    );
    const all = sandbox.vendors(account).all();
    expect(all.length).toBeGreaterThan(39);
    expect(differences(at, all)).toEqual([]);
    expect(at.query('SELECT DISTINCT account_id FROM vendor_versions ORDER BY 1')).toHaveLength(2);
    expect(at.query('SELECT service FROM mirror_identity')).toEqual([{ service: `sandbox ${memory.id}` }]);
    sandbox.stop();
    memory.close();
  });

  it('has fewer changes on Saturdays and Sundays', async () => {
    const at = place({ history: 21 });
    await at.write();
    const weekend = at.query<{ day: string; deliveries: number }>(
      "SELECT day, deliveries FROM webhook_health WHERE strftime('%w', day) IN ('0', '6')",
    );
    const all = at.query<{ deliveries: number }>('SELECT deliveries FROM webhook_health');
    const sum = (rows: readonly { deliveries: number }[]): number =>
      rows.reduce((total, { deliveries }) => total + deliveries, 0);
    expect(sum(weekend)).toBeGreaterThan(0);
    expect(sum(weekend) / sum(all)).toBeLessThan(0.1);
  });

  it('is the same for the same seed, and another for another', async () => {
    const versions = async (seed: number): Promise<unknown> => {
      const at = place({ seed, history: 3 });
      await at.write();
      return at.query('SELECT vendorid, valid_from, changed_fields, raw FROM vendor_versions ORDER BY seq');
    };
    const first = await versions(1);
    expect(await versions(1)).toEqual(first);
    expect(await versions(2)).not.toEqual(first);
  });

  it('leaves one file each, which the owner alone may write', async () => {
    const at = place({ history: 2 });
    await at.write();
    expect(readdirSync(at.folder).sort()).toEqual(['vendors.db', 'vendors.db.world']);
    expect(statSync(at.database).mode & 0o777).toBe(0o640);
    expect(statSync(at.world).mode & 0o777).toBe(0o600);
  });

  it('is not written where a mirror or a world is, or a link to one', async () => {
    for (const make of [
      ({ database }: Place) => writeFileSync(database, ''),
      ({ world }: Place) => writeFileSync(world, ''),
      ({ database, folder }: Place) => symlinkSync(join(folder, 'elsewhere'), database),
    ]) {
      const at = place();
      make(at);
      const before = readdirSync(at.folder);
      expect(await at.write()).toBe(false);
      expect(readdirSync(at.folder)).toEqual(before);
    }
  });

  it.each([1, 2, 50, 300])('leaves nothing when it is interrupted after %i turns', async (turns) => {
    const at = place({ history: 20 });
    let left = turns;
    const { clock, interruption } = at;
    const turn = clock.yield.bind(clock);
    clock.yield = () => {
      left -= 1;
      if (left === 0) interruption.abort(new MirrorError('interrupted', 'Interrupted by SIGINT.'));
      return turn();
    };
    await expect(at.write()).rejects.toMatchObject({ code: 'interrupted' });
    expect(readdirSync(at.folder)).toEqual([]);
  });

  it('is written anew where a process was killed in the middle of it', async () => {
    const at = place({ history: 2 });
    const rest = `${at.database}.history`;
    mkdirSync(rest);
    for (const name of ['mirror.db', 'mirror.db-wal', 'world']) writeFileSync(join(rest, name), 'half');
    expect(await at.write()).toBe(true);
    expect(existsSync(rest)).toBe(false);
    expect(at.query('SELECT count(*) AS count FROM vendors')).not.toEqual([{ count: 0 }]);
  });

  it('leaves a world that goes on, where the process was killed before the mirror was in its place', async () => {
    const at = place({ history: 2 });
    await at.write();
    rmSync(at.database);
    expect(await at.write()).toBe(false);
    const memory = openWorldFile(at.world, '1');
    expect(memory.entries.filter(({ kind }) => kind === 'vendor').length).toBeGreaterThan(0);
    memory.close();
  });
});
