import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SqliteError } from '../../src/store/sqlite/driver.ts';
import { driverFolder } from '../../src/store/sqlite/driver-package.ts';
import { lockHeldAt } from '../../src/store/sqlite/database.ts';
import { catalogued } from '../../src/store/sqlite/sqlite-errors.ts';
import { packageRoot, temporaryFolder } from '../support/mirror-file.ts';
import { isMissing } from '../support/needed.ts';
import { deliver, introduce, quietDaemon, watch } from '../power/tapped.ts';
import { until } from '../support/testbed/daemon-process.ts';
import { ended } from '../support/testbed/program.ts';
import { testbed } from '../support/testbed.ts';

/** Another program takes the write lock of the file. @param script where it is written. @returns how to make it let go, and who it is. */
async function lock(
  path: string,
  script = join(temporaryFolder(), 'tool.js'),
): Promise<(() => Promise<void>) & { readonly who: string }> {
  const program = `const sqlite = new (require(${JSON.stringify(driverFolder)}))(${JSON.stringify(path)});
    sqlite.exec('BEGIN IMMEDIATE');
    console.log('locked');
    process.stdin.on('data', () => process.exit(0));`;
  mkdirSync(dirname(script), { recursive: true });
  writeFileSync(script, program);
  const child = spawn(process.execPath, [script], { cwd: packageRoot });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  const release = async (): Promise<void> => {
    child.stdin.write('go\n');
    await once(child, 'exit');
  };
  return Object.assign(release, { who: `${basename(process.execPath)} (process ${child.pid})` });
}

/** Whether a process has a file open. */
function hasOpen(pid: number, path: string): boolean {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).some((name) => {
    try {
      return readlinkSync(join(folder, name)) === path;
    } catch {
      return false;
    }
  });
}

/** Whether the daemon answers; one whose machine stood still for seconds has ended the connection that was idle for it. */
async function isHealthy(listener: string | undefined): Promise<boolean> {
  const answer = await fetch(`${listener}/healthz`).catch(() => undefined);
  return answer?.status === 200;
}

describe('a program that holds the write lock', () => {
  it('F4 C12 makes the daemon refuse deliveries with 503 while it answers other requests, and accept them afterwards', async () => {
    const sandbox = await testbed({ level: 'sandbox', vendors: 20 });
    const at = await testbed({ level: 'program', service: sandbox, settings: quietDaemon });
    const path = await introduce(at);
    const daemon = at.start('serve');
    const listener = await watch(daemon).serving;
    const send = (numbers: number[]) =>
      deliver(`${listener}${path}`, { numbers, lanes: numbers.length, vendorOf: (number) => number });
    expect((await send([1]))[0]?.status).toBe(200);

    const release = await lock(at.database);
    /** @returns how often others were served while three deliveries waited to be refused. */
    const servedMeanwhile = async (): Promise<number> => {
      const answered = new AbortController();
      const refused = send([2, 3, 4]).finally(() => answered.abort());
      let healthy = 0;
      while (!answered.signal.aborted) healthy += (await isHealthy(listener)) ? 1 : 0;
      expect((await refused).map(({ status }) => status)).toEqual([503, 503, 503]);
      return healthy;
    };
    // The loop is never blocked for longer than one try for the lock: others are served again and again meanwhile. A machine that
    // leaves the daemon no processor may hide that once, a loop that waits for the lock hides it every time.
    let served = 0;
    for (let round = 0; round < 5 && served <= 3; round++) served = await servedMeanwhile();
    expect(served).toBeGreaterThan(3);
    expect((await at.run('status')).stdout).toMatch(/stayed locked by .*end its transaction/is);
    expect(JSON.parse((await at.run('status', '--json')).stdout)).toMatchObject({
      ready: false,
      verdict: { code: 'cannot_store' },
    });
    await release();
    expect(JSON.parse((await at.run('status', '--json')).stdout)).toMatchObject({ ready: true });
    expect((await send([5, 6])).map(({ status }) => status)).toEqual([200, 200]);
    daemon.kill('SIGTERM');
    await once(daemon, 'exit');
    expect(at.query('SELECT user_id FROM deliveries ORDER BY user_id').map((row) => row['user_id'])).toEqual([1, 5, 6]);
  });

  it.skipIf(isMissing(existsSync('/proc/locks') ? undefined : 'there is no /proc/locks'))(
    'F4 is named by an error and by `status`, with what to do, until it lets go',
    async () => {
      const line = await testbed({ level: 'command' });
      await line.fill({});
      const busy = new SqliteError('database is locked', 'SQLITE_BUSY');
      expect(catalogued(busy, line.database)).toMatchObject({
        message: expect.stringContaining('by another') as string,
      });
      const release = await lock(line.database);
      expect(catalogued(busy, line.database)).toMatchObject({
        message: `${line.database}: the database stayed locked by ${release.who} (SQLITE_BUSY).`,
        remedy: expect.stringContaining('COMMIT or ROLLBACK') as string,
      });
      const said = `${release.who} is writing to `;
      expect((await line.run('status')).stderr).toContain(said);
      expect(lockHeldAt(line.database)).toMatchObject({ code: 'database_locked' });
      await release();
      expect((await line.run('status')).stderr).toBe('');
      expect(lockHeldAt(line.database)).toBeUndefined();
    },
  );

  it.skipIf(isMissing(existsSync('/proc/locks') ? undefined : 'there is no /proc/locks'))(
    'F4 is no trouble where it is a process of this program, which ends by itself',
    async () => {
      const line = await testbed({ level: 'command' });
      await line.fill({});
      const release = await lock(line.database, join(temporaryFolder(), 'cmd', 'main.js'));
      expect((await line.run('status')).stderr).toBe('');
      expect(lockHeldAt(line.database)).toBeUndefined();
      await release();
    },
  );

  it.skipIf(isMissing(existsSync('/proc/self/fd') ? undefined : 'there is no /proc'))(
    'F4 is waited for by a pull, which then is complete',
    async () => {
      const sandbox = await testbed({ level: 'sandbox', vendors: 60 });
      const at = await testbed({ level: 'program', service: sandbox, settings: 'sync: { lag: 0s }' });
      expect((await at.run('sync')).status).toBe(0);
      sandbox.sandbox.vendors(sandbox.account).create({ vendor_name: 'Late', language: 'en' });
      const release = await lock(at.database);
      let requests = 0;
      sandbox.sandbox.onRequest(() => (requests += 1));
      const child = at.start('sync', '--json');
      const pulled = ended(child);
      await until(() => hasOpen(child.pid!, at.database));
      expect(requests).toBe(0);
      await release();
      const { status, stdout } = await pulled;
      expect([status, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ ok: true })]);
      expect(at.query("SELECT vendor_name FROM vendors WHERE vendor_name = 'Late'")).toHaveLength(1);
    },
  );
});
