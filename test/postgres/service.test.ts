/** Rows in PostgreSQL while a daemon runs: after changes and on a schedule, beside a server that is down or hangs. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SinkService } from '../../src/app/sinks.ts';
import { createLog } from '../../src/domain/log.ts';
import { readSecretFile } from '../../src/settings/file.ts';
import type { PostgresPublication } from '../../src/settings/parse.ts';
import { publicationReports } from '../../src/store/publications.ts';
import { sinkMigrations } from '../../src/store/sink/tables.ts';
import { migrations, temporaryFolder } from '../support/mirror-file.ts';
import { isMissing } from '../support/needed.ts';
import { askedForPassword, isOwnServer, missingPostgres } from '../support/postgres-server.ts';
import { askPostgres, postgresProxy, postgresServer } from '../support/postgres.ts';
import { constantRandom } from '../support/random.ts';
import { settingsIn } from '../support/settings.ts';
import { testbed } from '../support/testbed.ts';
import { row } from '../support/testbed/store.ts';
import { virtualClock, type VirtualClock } from '../support/virtual-clock.ts';
import { mirrorIdOf, rowsHere, rowsThere } from './rows.ts';

const server = postgresServer();

async function publishing(over: Readonly<Record<string, unknown>>) {
  const at = await testbed({ level: 'store' });
  await at.page(await at.ask(), row(1, 'Huber'));
  const clock = virtualClock();
  const lines: string[] = [];
  const [publication] = settingsIn('.', { publish: [over] }, readSecretFile).publish as [PostgresPublication];
  const service = (): SinkService => {
    const opened = new SinkService({
      ...{ publication, timezone: 'UTC', mirror: at.mirror, host: 'here', clock, random: constantRandom() },
      migrations: sinkMigrations(migrations),
      log: createLog('info', { write: (line) => void lines.push(line) }),
    });
    onTestFinished(() => opened.stop());
    return opened;
  };
  const report = async () => (await at.mirror.query(publicationReports))[0]!;
  return { at, clock, lines, service, report };
}

/** Lets time pass until it is so; the network takes its own. */
async function until(clock: VirtualClock, isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) {
    await clock.advance(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe.skipIf(isMissing(missingPostgres) || !isOwnServer)('a password of PostgreSQL', () => {
  it('that is replaced while a daemon runs is read from its file again; where that is gone, the last one is used', async () => {
    const address = new URL(await server.database());
    const to = String(address);
    address.username = askedForPassword;
    const file = join(temporaryFolder(), 'password');
    const set = async (password: string) => {
      await askPostgres(to, `ALTER ROLE ${askedForPassword} PASSWORD '${password}'`);
      writeFileSync(file, `${password}\n`);
    };
    await askPostgres(to, `CREATE ROLE ${askedForPassword} LOGIN SUPERUSER`);
    await set('first');
    const { at, clock, service, report } = await publishing({ to: String(address), passwordFile: file });
    const isWritten = async (): Promise<boolean> => {
      const { written_at, behind_since } = await report();
      return written_at !== null && behind_since === null;
    };
    await service().start();
    await until(clock, isWritten);
    await set('second');
    await at.page(await at.ask(), row(2, 'Meier'));
    await until(clock, async () => (await isWritten()) || (await report()).failing_since !== null);
    expect(await report()).toMatchObject({ failing_since: null });
    rmSync(file);
    await at.page(await at.ask(), row(3, 'Schulze'));
    await until(clock, async () => (await isWritten()) || (await report()).failing_since !== null);
    expect(await report()).toMatchObject({ failing_since: null });
  });
});

describe.skipIf(isMissing(missingPostgres))('rows in PostgreSQL', () => {
  it('L29 follow what changes, say how old they are, and go on after a restart', async () => {
    const to = await server.database();
    const { at, clock, service, report } = await publishing({ to });
    const isEqual = async (): Promise<boolean> =>
      JSON.stringify(await rowsThere(to, 'vendor_mirror', mirrorIdOf(at)).catch(() => '')) ===
      JSON.stringify(rowsHere(at));
    const first = service();
    await first.start();
    await until(clock, isEqual);
    await until(clock, async () => (await report()).written_at !== null);
    await at.page(await at.ask(), row(2, 'Meier'));
    expect(await report()).toMatchObject({ failing_since: null, behind_since: expect.any(String) as string });
    await until(clock, isEqual);
    await until(clock, async () => (await report()).behind_since === null);
    await first.stop();
    const kept = 'SELECT kept_until <= clock_timestamp() AS free, kept_by FROM vendor_mirror.mirrors';
    expect(await askPostgres(to, kept)).toMatchObject([
      { free: true, kept_by: expect.stringMatching(/^here:\//) as string },
    ]);
    await at.page(await at.ask(), row(3, 'Schulze'));
    await service().start();
    await until(clock, isEqual);
  });

  it('are compared with the mirror at the start and then once an hour: what others altered is written again and told', async () => {
    const to = await server.database();
    const { at, clock, lines, service, report } = await publishing({ to });
    const isEqual = async (): Promise<boolean> =>
      JSON.stringify(await rowsThere(to, 'vendor_mirror', mirrorIdOf(at)).catch(() => '')) ===
      JSON.stringify(rowsHere(at));
    const alter = () => askPostgres(to, `UPDATE vendor_mirror.vendors SET vendor_name = 'mine'`);
    const told = () =>
      lines.flatMap((line) => {
        const { path, rows, vendors, msg } = JSON.parse(line) as Record<string, unknown>;
        return rows === undefined ? [] : [{ path, rows, vendors, msg }];
      });
    const first = service();
    await first.start();
    await until(clock, async () => (await report()).written_at !== null);
    await alter();
    const begun = clock.now();
    await until(clock, () => Promise.resolve(told().length > 0));
    expect(clock.now() - begun).toBeGreaterThan(3_500_000);
    expect(await isEqual()).toBe(true);
    await first.stop();
    await alter();
    await service().start();
    await until(clock, () => Promise.resolve(told().length > 1));
    expect(await isEqual()).toBe(true);
    const line = {
      path: `${to}#vendor_mirror`,
      rows: { vendors: 1 },
      vendors: [{ account_id: 'one', vendorid: 1 }],
      msg: 'others had altered, deleted or added rows in PostgreSQL; they are again those of the mirror',
    };
    expect(told()).toEqual([line, line]);
  });

  it('are written at the slots of a schedule, and the server is left alone between them', async () => {
    const to = await server.database();
    const { at, clock, service, report } = await publishing({ to, schema: 'daily', when: '0 14 * * *' });
    const names = () => askPostgres(to, 'SELECT vendor_name FROM daily.vendors').catch(() => []);
    await service().start();
    // A slot that no daemon saw is made up.
    await until(clock, async () => (await names()).length === 1 && (await report()).written_at !== null);
    await at.page(await at.ask(), row(2, 'Meier'));
    await clock.advance(60_000);
    expect(await names()).toHaveLength(1);
    await clock.advance(2 * 3_600_000);
    await until(clock, async () => (await names()).length === 2);
    expect(new Date(clock.now()).toISOString()).toMatch(/T14:/);
  });

  it('L79 wait for a server that is down, which is said once, and are whole when it is back', async () => {
    const to = await server.database();
    const proxy = await postgresProxy(to);
    proxy.mode = 'down';
    const { at, clock, lines, service, report } = await publishing({ to: proxy.address });
    await service().start();
    await until(clock, async () => (await report()).failures >= 3);
    expect(await report()).toMatchObject({
      code: 'postgres_failed',
      error: expect.stringContaining('cannot be reached') as string,
    });
    expect(lines.filter((line) => line.includes('could not be written'))).toHaveLength(1);
    await at.page(await at.ask(), row(2, 'Meier'));
    proxy.mode = 'open';
    await until(clock, async () => (await report()).failing_since === null);
    expect(await rowsThere(to, 'vendor_mirror', mirrorIdOf(at))).toEqual(rowsHere(at));
    expect(lines.join('\n')).toContain('the rows in PostgreSQL are written again');
  });

  it('L61 hold nothing up while a server hangs: the mirror is written, others are published, and the end does not wait', async () => {
    const to = await server.database();
    const proxy = await postgresProxy(to);
    const { at, clock, service, report } = await publishing({ to: proxy.address });
    const hanging = service();
    await hanging.start();
    await until(clock, async () => (await report()).written_at !== null);
    proxy.mode = 'hanging';
    proxy.cut(Infinity, 'before');
    await at.page(await at.ask(), row(2, 'Meier'));
    await until(clock, () => Promise.resolve(proxy.connections > 0));
    await at.page(await at.ask(), row(3, 'Schulze'));
    expect(at.query('SELECT count(*) AS vendors FROM vendors')).toEqual([{ vendors: 3 }]);
    let isStopped = false;
    void hanging.stop().then(() => (isStopped = true));
    await until(clock, () => Promise.resolve(isStopped));
    expect(await report()).toMatchObject({ failures: 0 });
  });

  it('are kept by the daemon, and shown on its page and in its metrics', async () => {
    const to = await server.database();
    const at = await testbed({ level: 'daemon', vendors: 30, settings: { publish: [{ to, schema: 'vendors' }] } });
    const isEqual = async (): Promise<boolean> =>
      JSON.stringify(await rowsThere(to, 'vendors', mirrorIdOf(at)).catch(() => '')) === JSON.stringify(rowsHere(at));
    await until(at.clock, isEqual);
    const written = () => at.query('SELECT written_at FROM _publications WHERE written_at IS NOT NULL');
    await until(at.clock, () => Promise.resolve(written().length > 0));
    const path = `${to}#vendors`;
    expect((await at.look('/')).body).toContain(`<code>${path}</code> last written`);
    expect((await at.look('/metrics')).body).toContain(`vendor_mirror_publication_failing_seconds{path="${path}"} 0`);
  });

  it('are copied anew once something was forgotten, and the mirror notes that before they were ever whole', async () => {
    const to = await server.database();
    const proxy = await postgresProxy(to);
    proxy.mode = 'down';
    const { at, clock, service, report } = await publishing({ to: proxy.address });
    const first = service();
    await first.start();
    await until(clock, async () => (await report()).failures > 0);
    await first.stop();
    at.damage('UPDATE _publications SET file_ms = min(coalesce(file_ms, 0), 0) - 1');
    proxy.mode = 'open';
    await service().start();
    await until(clock, async () => (await report()).written_at !== null);
    expect(await askPostgres(to, 'SELECT definition FROM vendor_mirror.mirrors')).toEqual([{ definition: '[1,0,-1]' }]);
  });
});
