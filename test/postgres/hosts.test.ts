/** An address with several servers: the first that answers and takes writes is used, and after a failover the other one, without a proxy. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { MirrorError } from '../../src/domain/errors.ts';
import { Secret } from '../../src/domain/secret.ts';
import { PostgresSession, type PostgresServer } from '../../src/store/postgres/session.ts';
import { packageRoot } from '../support/mirror-file.ts';
import { isMissing } from '../support/needed.ts';
import { freePort } from '../support/network/free-port.ts';
import {
  askedForPassword,
  isOwnServer,
  missingPostgres,
  startOwnServer,
  type OwnServer,
} from '../support/postgres-server.ts';
import { storeAt, storeSettings } from '../support/postgres-schema.ts';
import { askPostgres, postgresProxy } from '../support/postgres.ts';
import { until } from '../support/testbed/daemon-process.ts';
import { testbed } from '../support/testbed.ts';

/** The address of these servers, in this order. */
function addressOf(hosts: readonly string[], query = '', user = 'tester'): string {
  return `postgres://${user}@${hosts.join(',')}/postgres${query}`;
}

/** Host and port of a server. */
const placeOf = (server: { readonly address: string }): string => new URL(server.address).host;

/** The port of the server that a session at this address leads to; or why there is none. */
function portAt(address: string, password?: string): Promise<string> {
  return portOfSession({ ...storeAt(address), password: password === undefined ? undefined : new Secret(password) });
}

async function portOfSession(server: PostgresServer): Promise<string> {
  try {
    const session = await PostgresSession.open(server, new AbortController().signal);
    const [row] = await session.run<{ port: string }>(`SELECT current_setting('port') AS port`);
    session.close();
    return row?.port ?? '';
  } catch (error) {
    return error instanceof MirrorError ? `${error.code}: ${error.message}` : String(error);
  }
}

describe.skipIf(isMissing(missingPostgres) || !isOwnServer)('of several hosts', () => {
  let primary: OwnServer;
  let standby: OwnServer;
  let nobody: string;
  const portOf = (server: OwnServer): string => new URL(server.address).port;

  beforeAll(async () => {
    primary = await startOwnServer();
    await askPostgres(primary.address, 'CREATE ROLE reads LOGIN');
    await askPostgres(primary.address, 'ALTER ROLE reads SET default_transaction_read_only = on');
    standby = await startOwnServer(primary);
    nobody = `127.0.0.1:${await freePort()}`;
  });
  afterAll(async () => {
    await standby.stop();
    await primary.stop();
  });

  it('the first is used that answers and takes writes, unless another one is asked for', async () => {
    const all = [nobody, placeOf(standby), placeOf(primary)];
    expect(await portAt(addressOf(all))).toBe(portOf(primary));
    expect(await portAt(addressOf(all, '?target_session_attrs=primary'))).toBe(portOf(primary));
    expect(await portAt(addressOf(all, '?target_session_attrs=any'))).toBe(portOf(standby));
    expect(await portAt(addressOf([placeOf(standby)]))).toBe(portOf(standby));
  });

  it('none is used where none is what is asked for, and each is named with the reason', async () => {
    const [no, second, first] = [nobody, placeOf(standby), placeOf(primary)];
    expect(await portAt(addressOf([no, second, first], '', 'reads'))).toBe(
      `postgres_failed: postgres://reads@${no}/postgres cannot be reached, or ended the connection (ECONNREFUSED). ` +
        `postgres://reads@${second}/postgres is a standby, which takes no writes. ` +
        `postgres://reads@${first}/postgres lets this user only read.`,
    );
    expect(await portAt(addressOf([second], '?target_session_attrs=read-write'))).toContain('is a standby');
    expect(await portAt(addressOf([second, first], '?target_session_attrs=primary', 'reads'))).toBe(portOf(primary));
  });

  it('one that hangs is waited for as long as all together may take', async () => {
    const proxy = await postgresProxy(primary.address);
    proxy.mode = 'hanging';
    const began = Date.now();
    expect(await portAt(addressOf([placeOf(proxy), placeOf(primary), nobody, nobody, nobody]))).toBe(portOf(primary));
    expect(Date.now() - began).toBeLessThan(5_000);
  });

  it('the one that was used last is tried first, as long as it is what is asked for', async () => {
    const [hanging, last] = [await postgresProxy(primary.address), await postgresProxy(primary.address)];
    hanging.mode = 'hanging';
    const server = storeAt(addressOf([placeOf(hanging), placeOf(last), placeOf(standby), nobody, nobody]));
    expect(await portOfSession(server)).toBe(portOf(primary));
    const began = Date.now();
    for (let time = 0; time < 5; time++) expect(await portOfSession(server)).toBe(portOf(primary));
    expect(Date.now() - began).toBeLessThan(1_900);
    hanging.mode = 'open';
    last.mode = 'down';
    expect(await portOfSession(server)).toBe(portOf(primary));
  });

  it('one that refuses the user ends the search, and so does one with the certificate of another host', async () => {
    await askPostgres(primary.address, `CREATE ROLE ${askedForPassword} LOGIN PASSWORD 'right-and-secret'`);
    const both = [placeOf(primary), placeOf(standby)];
    expect(await portAt(addressOf(both, '', askedForPassword), 'wrong-and-secret')).toMatch(
      new RegExp(`^postgres_refused: postgres://${askedForPassword}@${both[0]}/postgres, .*28P01`),
    );
    const trusted = `?sslmode=verify-full&sslrootcert=${join(packageRoot, 'test/fixtures/tls/authority.pem')}`;
    expect(await portAt(addressOf([nobody, placeOf(primary)], trusted))).toBe(portOf(primary));
    const other = `127.0.0.2:${portOf(primary)}`;
    expect(await portAt(addressOf([nobody, other, placeOf(primary)], trusted))).toBe(
      `postgres_refused: postgres://tester@${other}/postgres: its certificate is not trusted (ERR_TLS_CERT_ALTNAME_INVALID).`,
    );
  });
});

describe.skipIf(isMissing(missingPostgres) || !isOwnServer)('a program that is told of two servers', () => {
  it('goes on with the other when one is lost, without a proxy', { timeout: 100_000 }, async () => {
    const primary = await startOwnServer();
    onTestFinished(primary.stop);
    const standby = await startOwnServer(primary, ['hot_standby_feedback=on']);
    onTestFinished(standby.stop);
    const both = addressOf([placeOf(standby), placeOf(primary)]);
    const service = await testbed({ level: 'sandbox', world: { noteInList: 'yes' }, vendors: 5 });
    const at = await testbed({
      level: 'program',
      service,
      listens: true,
      store: storeSettings(both),
      settings: `sync: { lag: 0s, secondLook: 1s }\npublish: [{ to: '${both}', schema: reports }]`,
    });
    const daemon = await at.serveUntilSwept();
    const vendors = service.sandbox.vendors(service.account);
    const [first, second] = vendors.listed().map(({ vendorid }) => Number(vendorid)) as [number, number];
    const isIn = async (schema: string, name: string): Promise<boolean> =>
      (
        await askPostgres(standby.address, `SELECT 1 FROM ${schema}.vendors WHERE vendor_name = $1`, [name]).catch(
          () => [],
        )
      ).length === 1;
    await until(() => service.sandbox.callbacks(service.account).all()[0]?.verified === true);
    vendors.edit(first, { vendor_name: 'Before' });
    await daemon.logged(`vendor ${first} changed: vendor_name`);
    for (const schema of ['vendor_mirror', 'reports'])
      await expect.poll(() => isIn(schema, 'Before'), { timeout: 30_000 }).toBe(true);
    await primary.lose();
    await askPostgres(standby.address, 'SELECT pg_promote()');
    vendors.edit(second, { vendor_name: 'After' });
    await daemon.logged(`vendor ${second} changed: vendor_name`);
    expect(await isIn('vendor_mirror', 'After')).toBe(true);
    expect((await at.run('doctor', '--json')).stdout).toContain(both);
    expect((await at.run('export', '-', '--format', 'csv')).stdout).toContain('After');
    expect(await daemon.end()).toBe(0);
  });
});
