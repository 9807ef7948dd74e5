/** Several daemons of one mirror in PostgreSQL, behind a load balancer: all take deliveries, one works, and one that dies takes nothing with it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { seededRandom, seedOf } from '../../src/sandbox/core/random.ts';
import type { EmbeddedSandbox } from '../../src/sandbox/embedded.ts';
import { postgresAddress } from '../../src/settings/addresses.ts';
import { activeDifferences } from '../support/mirror/differences.ts';
import { isMissing } from '../support/needed.ts';
import { balancerOf } from '../support/network/balancer.ts';
import { freePort } from '../support/network/free-port.ts';
import { isOwnServer, missingPostgres } from '../support/postgres-server.ts';
import { askSchema, storeSettings } from '../support/postgres-schema.ts';
import { askPostgres, postgresServer } from '../support/postgres.ts';
import { asked } from '../support/test-size.ts';
import { flow, isTaken, missing, until, watched, type DaemonProcess } from '../support/testbed/daemon-process.ts';
import { program } from '../support/testbed/build.ts';
import { testbed } from '../support/testbed.ts';

const server = postgresServer();

/** How many deliveries are taken around each event. */
const deliveries = asked('DELIVERIES', 200);

interface Machine {
  readonly adminPort: number;
  /** Starts its daemon, and waits until it serves. */
  serve(...options: readonly string[]): Promise<DaemonProcess>;
  ask(path: string): Promise<{ readonly status: number; readonly body: string }>;
  readonly file: string;
}

/** Two machines with daemons of one mirror, and the address of what stands before them. */
async function machines(over = '') {
  const service = await testbed({ level: 'sandbox', world: { noteInList: 'yes' }, vendors: 40 });
  const to = await server.database();
  const ports = [await freePort(), await freePort()];
  const publicUrl = await balancerOf(ports);
  const at = await testbed({
    level: 'program',
    service,
    store: storeSettings(to),
    settings: `sync: { lag: 0s, secondLook: 1s }\n${over}`,
  });
  const settings = readFileSync(join(at.folder, 'mirror.yaml'), 'utf8');
  const machine = async (port: number): Promise<Machine> => {
    const adminPort = await freePort();
    const file = join(at.folder, `${port}.yaml`);
    writeFileSync(
      file,
      `${settings}
listener: { host: 127.0.0.1, port: ${port}, publicUrl: "${publicUrl}" }
admin: { port: ${adminPort} }`,
    );
    return {
      adminPort,
      file,
      async serve(...options) {
        const daemon = watched(at.execute(process.execPath, program, 'serve', '-c', file, ...options));
        await daemon.logged('"msg":"serving"');
        return daemon;
      },
      async ask(path) {
        const answer = await fetch(`http://127.0.0.1:${adminPort}${path}`);
        return { status: answer.status, body: await answer.text() };
      },
    };
  };
  const address = postgresAddress(to);
  if (typeof address === 'string') throw new Error(address);
  const query = <Row>(sql: string, ...values: unknown[]): Row[] =>
    askSchema<Row>({ to: address, schema: 'vendor_mirror' }, sql, ...values);
  const [one, other] = [await machine(ports[0] ?? 0), await machine(ports[1] ?? 0)];
  const isVerified = () => service.sandbox.callbacks(service.account).all()[0]?.verified === true;
  /** Nothing that was acknowledged is lost, no vendor went backwards, and the mirror is that of the service, after a sweep for balances. */
  const expectWhole = async (): Promise<void> => {
    expect(missing({ query }, service)).toEqual([]);
    expect((await at.run('sync')).status).toBe(0);
    await expect
      .poll(() => activeDifferences({ query, sandbox: service.sandbox }), { timeout: 60_000, interval: 500 })
      .toEqual([]);
    expect(backwards(query)).toEqual([]);
  };
  return { at, service, query, to, one, other, isVerified, expectWhole };
}

const works = '"msg":"this daemon works from now on"';

/** Resolves with the nth delivery that any of the daemons takes from now on. */
function anyTaken({ sandbox }: EmbeddedSandbox, nth: number): Promise<void> {
  return new Promise((resolve) => {
    let left = nth;
    const stop = sandbox.onDelivery((attempt) => {
      if (!isTaken(attempt) || --left > 0) return;
      stop();
      resolve();
    });
  });
}

/** Versions of a vendor that are older than the one before it. */
function backwards(query: <Row>(sql: string) => Row[]): unknown[] {
  return query(`SELECT vendorid, seq FROM (
    SELECT vendorid, seq, raw::json ->> 'updated_at' AS at,
      lag(raw::json ->> 'updated_at') OVER (PARTITION BY account_id, vendorid ORDER BY seq) AS before
    FROM _vendor_versions) v WHERE at < before`);
}

describe.skipIf(isMissing(missingPostgres))('several daemons of one mirror', () => {
  it('all take deliveries; one works, and another at once when it is stopped; each says who', async () => {
    const { at, service, query, one, other, isVerified, expectWhole } = await machines();
    const first = await one.serve();
    await first.logged(works);
    const second = await other.serve();
    expect(second.stderr()).toContain('works on the mirror; this one takes over when it is gone');
    await until(isVerified);
    expect(service.sandbox.callbacks(service.account).all()).toHaveLength(1);

    const stop = flow(service, seededRandom(seedOf(1, 'several')), 20);
    await anyTaken(service, deliveries);
    const taken = query<{ n: number }>('SELECT count(*) AS n FROM deliveries');
    expect(taken[0]?.n).toBeGreaterThanOrEqual(deliveries);
    const counted = async (machine: Machine): Promise<number> =>
      Number(/deliveries_total\{outcome="accepted"\} (\d+)/.exec((await machine.ask('/metrics')).body)?.[1]);
    expect(await counted(one)).toBeGreaterThan(deliveries / 4);
    expect(await counted(other)).toBeGreaterThan(deliveries / 4);

    for (const [machine, isWorker] of [
      [one, true],
      [other, false],
    ] as const) {
      const ready = await machine.ask('/readyz');
      expect(ready.status).toBe(200);
      expect(JSON.parse(ready.body)).toMatchObject({
        ready: true,
        works: isWorker,
        worker: expect.any(String) as string,
      });
      const document = JSON.parse((await machine.ask('/api/status')).body) as { daemons: unknown[] };
      expect(document.daemons).toMatchObject([
        { works: true, listens: true, may_work: true },
        { works: false, listens: true, may_work: true },
      ]);
      expect((await machine.ask('/')).body).toContain('listens, and works when no other does');
      const { body } = await machine.ask('/metrics');
      expect(body).toMatch(/vendor_mirror_daemons\{role="work",version="[\d.]+"\} 1\n/);
      expect(body).toMatch(/vendor_mirror_daemons\{role="listen",version="[\d.]+"\} 2\n/);
    }
    expect((await at.run('status')).stdout.replaceAll(/\s+/g, ' ')).toMatch(
      /Daemons: \S+ works and listens .*; \S+ listens, and works/,
    );

    const answered = anyTaken(service, deliveries);
    const stopped = Date.now();
    const ended = first.end();
    await second.logged(works);
    expect(Date.now() - stopped).toBeLessThan(15_000);
    await answered;
    expect(await ended).toBe(0);
    stop();
    await expectWhole();
    expect(await second.end()).toBe(0);
    expect(query('SELECT name FROM _processes')).toEqual([]);
  });

  it('whose worker is killed under load lose nothing: the other takes deliveries meanwhile, and works within 35 s', async () => {
    const { service, one, other, isVerified, expectWhole } = await machines();
    const first = await one.serve();
    await first.logged(works);
    const second = await other.serve();
    await until(isVerified);
    const stop = flow(service, seededRandom(seedOf(2, 'several')), 20);
    await anyTaken(service, deliveries);
    const killed = Date.now();
    await first.end('SIGKILL');
    await anyTaken(service, deliveries);
    expect(second.stderr()).not.toContain(works);
    await second.logged(works);
    expect(Date.now() - killed).toBeLessThan(35_000);
    await anyTaken(service, deliveries);
    stop();
    await expectWhole();
    await second.end();
  });

  it.skipIf(isMissing(missingPostgres) || !isOwnServer)(
    'answer 503 in time while a standby hangs, and what they acknowledged is there',
    async () => {
      const { service, query, to, one, isVerified, expectWhole } = await machines();
      const daemon = await one.serve();
      await daemon.logged(works);
      await until(isVerified);
      const standby = async (name: string): Promise<void> => {
        await askPostgres(to, `ALTER SYSTEM SET synchronous_standby_names TO '${name}'`);
        await askPostgres(to, 'SELECT pg_reload_conf()');
      };
      const stop = flow(service, seededRandom(seedOf(4, 'several')), 100);
      await anyTaken(service, 20);
      await standby('nobody');
      onTestFinished(() => standby(''));
      // A connection that is cut, because so many wait, is no answer either; one that comes too late for the service would be a timeout.
      const answers = await new Promise<readonly unknown[]>((resolve) => {
        const seen: unknown[] = [];
        const end = service.sandbox.onDelivery(({ outcome, status, problem }) => {
          if (outcome !== 'failed' || seen.push(status ?? problem) < 10) return;
          end();
          resolve(seen);
        });
      });
      expect(answers).toContain(503);
      expect(answers.filter((answer) => answer !== 503 && answer !== 'fetch failed')).toEqual([]);
      expect(missing({ query }, service)).toEqual([]);
      expect((await one.ask('/readyz')).status).toBe(503);
      const taken = anyTaken(service, 20);
      await standby('');
      await taken;
      expect((await one.ask('/readyz')).status).toBe(200);
      stop();
      await expectWhole();
      await daemon.end();
    },
  );

  it('go on where one that only listens is killed, and one that only works answers no delivery', async () => {
    const { at, service, query, to, one, other, isVerified, expectWhole } = await machines();
    const listener = await one.serve('--role', 'listen');
    const document = JSON.parse((await one.ask('/api/status')).body) as { problems: { code: string }[] };
    expect(document.problems.map(({ code }) => code)).toEqual(['nobody_works']);
    const { checks } = JSON.parse((await at.run('doctor', '--json')).stdout) as {
      checks: { check: string; message: string; remedy?: string }[];
    };
    const saidOf = (name: string): string | undefined => checks.find(({ check }) => check === name)?.message;
    expect(saidOf('daemons')).toMatch(/only listen, and none works/);
    expect(checks.map(({ message }) => message).join('\n')).not.toContain('about to begin');
    expect(await one.ask('/readyz')).toMatchObject({ status: 200 });
    expect((await one.ask('/metrics')).body).toContain('vendor_mirror_problem{account="",code="nobody_works"} 1');
    expect(listener.stderr()).not.toContain(works);
    expect(query('SELECT count(*) AS n FROM runs')).toEqual([{ n: 0 }]);

    const worker = await other.serve('--role', 'work');
    await until(isVerified);
    const stop = flow(service, seededRandom(seedOf(3, 'several')), 20);
    await anyTaken(service, deliveries);
    await worker.end('SIGKILL');
    await anyTaken(service, deliveries);
    await listener.end('SIGKILL');
    // For how long the dead are waited for, another test shows.
    await askPostgres(to, `UPDATE vendor_mirror._processes SET renewed_at = renewed_at - interval '30 s'`);
    const both = await other.serve();
    await both.logged(works);
    stop();
    await expectWhole();
    await both.end();
  });
});
