/** The built-in sandbox as people meet it: started again and again, with commands beside it. */
import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock, timestamp } from '../../../src/domain/clock.ts';
import { ask, temporaryFolder } from '../../support/mirror-file.ts';
import { until, watched, type DaemonProcess } from '../../support/testbed/daemon-process.ts';
import { build, program } from '../../support/testbed/build.ts';
import { freePort } from '../../support/network/free-port.ts';
import { ended, type Ended } from '../../support/testbed/program.ts';

/** For a machine that does much else. */
vi.setConfig({ testTimeout: 240_000 });

beforeAll(build);

async function sandboxPlace(sandbox = '{ vendors: 40, seed: 1, churn: 0, records: odd }', ports?: readonly [0, 0]) {
  const folder = temporaryFolder();
  const database = join(folder, 'sandbox.db');
  const settings = join(folder, 'mirror.yaml');
  const [listener, admin] = ports ?? [await freePort(), await freePort()];
  const settle = (world: string): void =>
    writeFileSync(
      settings,
      `accounts: [6BApk]
database: ${database}
secrets: ${join(folder, 'secrets.db')}
listener: { host: 127.0.0.1, port: ${listener} }
admin: { port: ${admin} }
sync: { lag: 0s, secondLook: 1s }
sandbox: ${world}
`,
    );
  settle(sandbox);
  const start = (...argv: string[]) => {
    const child = spawn(process.execPath, [program, ...argv, '-c', settings], { cwd: folder });
    onTestFinished(() => void child.kill('SIGKILL'));
    return child;
  };
  return {
    database,
    serve: (): DaemonProcess => watched(start('serve')),
    run: (...argv: string[]): Promise<Ended> => ended(start(...argv)),
    query: (sql: string) => ask(database, sql),
    settle,
  };
}

interface Listed {
  readonly callbacks: readonly { readonly callbackid: number; readonly verified: boolean }[];
}

it('K22 three starts in a row find the same service, whose changes arrive, and every command beside them speaks to it', async () => {
  const at = await sandboxPlace();
  const commands = [
    ['sync'],
    ['reconcile'],
    ['verify'],
    ['gateways', 'list'],
    ['vendors', 'list'],
    ['doctor'],
    ['status'],
  ];
  const callbackids = new Set<number>();
  const ends = ['SIGTERM', 'SIGKILL', 'SIGTERM'] as const;
  for (const [nth, signal] of ends.entries()) {
    const daemon = at.serve();
    await daemon.logged('"msg":"serving"');
    const isVerified = async (): Promise<boolean> => {
      const { stdout } = await at.run('callbacks', 'list', '--json');
      const { callbacks } = JSON.parse(stdout) as Listed;
      for (const { callbackid } of callbacks) callbackids.add(callbackid);
      return callbacks.some(({ verified }) => verified);
    };
    if (nth === 0) await daemon.swept();
    else expect(await isVerified()).toBe(true);

    for (const command of nth === 0 ? commands : commands.slice(0, 3)) {
      const { status, stderr } = await at.run(...command);
      expect([status, stderr], command.join(' ')).toEqual([0, expect.anything()]);
    }
    expect(at.query(`SELECT vendorid FROM vendors WHERE presence <> 'present'`)).toEqual([]);
    expect(at.query('SELECT count(*) AS vendors FROM vendors')).toEqual([{ vendors: 40 }]);

    const city = `City ${nth}`;
    const [{ vendorid } = { vendorid: 0 }] = at.query('SELECT vendorid FROM active_vendors ORDER BY vendorid');
    expect((await at.run('vendors', 'edit', String(vendorid), '--set', `city=${city}`)).status).toBe(0);
    const news = `SELECT 1 FROM deliveries WHERE object_id = ${String(vendorid)} AND outcome <> 'pending'`;
    await until(() => at.query(news).length > nth);
    expect(at.query(`SELECT city FROM vendors WHERE vendorid = ${String(vendorid)}`)).toEqual([{ city }]);
    await daemon.end(signal);
  }
  expect(callbackids.size).toBe(1);
  expect(at.query('SELECT service FROM mirror_identity')).toEqual([
    { service: expect.stringMatching(/^sandbox [0-9a-f]{16}$/) as unknown },
  ]);
  const cities = at.query(
    `SELECT new FROM (SELECT json_extract(raw, '$.city') AS new FROM vendor_versions) WHERE new LIKE 'City %'`,
  );
  expect(cities).toEqual([{ new: 'City 0' }, { new: 'City 1' }, { new: 'City 2' }]);
});

it('K22 commands without a daemon take turns with the one world, and a daemon waits for its turn', async () => {
  const at = await sandboxPlace();
  const runs = [at.run('sync'), at.run('reconcile'), at.run('verify')];
  const daemon = at.serve();
  expect((await Promise.all(runs)).map(({ status }) => status)).toEqual([0, 0, expect.any(Number)]);
  await daemon.swept();
  expect((await at.run('verify')).status).toBe(0);
  expect(await daemon.end()).toBe(0);
  expect(existsSync(`${at.database}.world.address`)).toBe(false);
  expect((await at.run('verify')).status).toBe(0);
});

it('L84 the first start begins with weeks of history, also after one that was killed, shows a change soon, and has run only now; the second goes on', async () => {
  const weeks = (churn: number): string => `{ vendors: 80, seed: 1, churn: ${churn}, history: 14 }`;
  const at = await sandboxPlace(weeks(5));
  const killed = at.serve();
  await until(() => existsSync(`${at.database}.history/mirror.db-wal`));
  killed.child.kill('SIGKILL');
  await killed.ended;
  expect(existsSync(at.database)).toBe(false);

  const begun = timestamp(systemClock.now());
  const first = at.serve();
  await first.logged('the sandbox begins with 14 days');
  await until(() => at.query(`SELECT 1 FROM runs WHERE outcome = 'complete'`).length > 0);
  await until(() => /"msg":"vendor \d+ (changed|is new|was)/.test(first.stderr()));
  expect(await first.end()).toBe(0);
  expect(existsSync(`${at.database}.history`)).toBe(false);
  expect(at.query(`SELECT 1 FROM runs WHERE started_at < '${begun}'`)).toEqual([]);
  const made = at.query(`SELECT seq FROM vendor_versions WHERE valid_from < '${begun}'`);
  expect(made.length).toBeGreaterThan(300);
  expect(at.query(`SELECT DISTINCT date(received_at) FROM deliveries`).length).toBeGreaterThan(9);

  at.settle(weeks(0));
  const second = at.serve();
  await second.logged('"msg":"serving"');
  expect(await second.end()).toBe(0);
  expect(second.stderr()).not.toContain('the sandbox begins with');
  expect(at.query(`SELECT seq FROM vendor_versions WHERE valid_from < '${begun}'`)).toEqual(made);
  // Lists leave the note out: only reads by id compare it, of more vendors than are read without `--full`, and a command reads it for some seconds.
  let told: unknown;
  for (let tries = 0; tries < 5; tries++) {
    expect((await at.run('sync')).status).toBe(0);
    const { status, stdout } = await at.run('verify', '--full', '--json');
    told = [status, JSON.parse(stdout)];
    if (status === 0) break;
  }
  expect(told).toMatchObject([0, { accounts: [{ outcome: 'equal', not_compared: null }] }]);
});

it('K22 a listener on any free port is registered by the port that it took, and the dashboard is named by its own', async () => {
  const at = await sandboxPlace(undefined, [0, 0]);
  const daemon = at.serve();
  let printed = '';
  daemon.child.stdout?.setEncoding('utf8').on('data', (text: string) => (printed += text));
  await daemon.logged('the callback for bill_vendor is verified');
  await until(() => printed.includes('Stop: Ctrl-C'));
  expect(/Dashboard: (\S+)/.exec(printed)?.[1]).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d+$/);
  expect(await daemon.end()).toBe(0);
});
