/** The program with its mirror in PostgreSQL: commands, and a daemon with its webhooks, as people run them. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { EmbeddedSandbox } from '../../src/sandbox/embedded.ts';
import { postgresAddress } from '../../src/settings/addresses.ts';
import { activeDifferences } from '../support/mirror/differences.ts';
import { askSchema, storeSettings } from '../support/postgres-schema.ts';
import { temporaryFolder } from '../support/mirror-file.ts';
import { isMissing } from '../support/needed.ts';
import { freePort } from '../support/network/free-port.ts';
import { askedForPassword, isOwnServer, missingPostgres } from '../support/postgres-server.ts';
import { askPostgres, postgresProxy, postgresServer } from '../support/postgres.ts';
import { testbed } from '../support/testbed.ts';
import { taken, until } from '../support/testbed/daemon-process.ts';

const server = postgresServer();

/** The service has no copies that lag, so that nothing must be waited for. */
const settings = 'sync: { lag: 0s, secondLook: 1s }';

async function place(address?: string) {
  const to = address ?? (await server.database());
  const folder = temporaryFolder();
  return { to, folder, store: storeSettings(to) };
}

const world = () => testbed({ level: 'sandbox', world: { noteInList: 'yes' }, vendors: 40 });

async function program(service: EmbeddedSandbox, store: string, listens = false) {
  return await testbed({ level: 'program', service, store, listens, settings });
}

/** A query of the mirror, as of one in a file. */
function queryOf(to: string) {
  const address = postgresAddress(to);
  if (typeof address === 'string') throw new Error(address);
  return <Row>(sql: string, ...values: unknown[]): Row[] =>
    askSchema<Row>({ to: address, schema: 'vendor_mirror' }, sql, ...values);
}

describe.skipIf(isMissing(missingPostgres))('a mirror in PostgreSQL', () => {
  it('is filled by sync, found unchanged by the next one, and follows an edit', async () => {
    const service = await world();
    const { to, store } = await place();
    const at = await program(service, store);
    const first = await at.run('sync', '--json');
    expect([first.stderr, first.status]).toEqual([expect.stringContaining('begins a new mirror'), 0]);
    const query = queryOf(to);
    const nameOf = (id: number) => query('SELECT vendor_name AS name FROM vendors WHERE vendorid = ?', id);
    expect(activeDifferences({ query, sandbox: service.sandbox })).toEqual([]);
    const second = await at.run('sync', '--json');
    expect([second.stderr, second.status]).toEqual(['', 0]);
    const [{ id } = { id: 0 }] = query<{ id: number }>('SELECT vendorid AS id FROM vendors WHERE vis_state = 0');
    const edit = await at.run('vendors', 'edit', String(id), '--set', 'vendor_name=Brand new', '--json');
    expect([edit.stderr, edit.status]).toEqual(['', 0]);
    expect(activeDifferences({ query, sandbox: service.sandbox })).toEqual([]);
    expect(nameOf(id)).toEqual([{ name: 'Brand new' }]);
  });

  it('that cannot be reached, or has no key for its secrets, is said so, with an exit status of its own', async () => {
    const service = await world();
    const port = await freePort();
    const away = await program(service, (await place(`postgres://somebody@127.0.0.1:${port}/vendors`)).store);
    const result = await away.run('sync');
    expect([result.status, result.stdout]).toEqual([69, '']);
    expect(result.stderr).toMatch(/postgres:\/\/.*127\.0\.0\.1.* cannot be reached/);
    const { to } = await place();
    const keyless = await program(service, `database: ${to}`);
    const refused = await keyless.run('sync');
    expect([refused.status, refused.stderr]).toEqual([78, expect.stringContaining('secretsKeyFile')]);
    expect(await askPostgres(to, `SELECT 1 FROM pg_namespace WHERE nspname LIKE 'vendor_mirror%'`)).toEqual([]);
    for (const command of ['export', 'import']) {
      const sealed = await keyless.run('secrets', command, 'copy.sealed');
      expect([sealed.status, sealed.stderr]).toEqual([64, expect.stringContaining('pg_dump')]);
    }
  });

  it('has a daemon, which takes deliveries; no secret stands there as it is', async () => {
    const service = await world();
    const { to, store } = await place();
    const at = await program(service, store, true);
    const daemon = await at.serveUntilSwept();
    await until(() => service.sandbox.callbacks(service.account).all()[0]?.verified === true);

    const query = queryOf(to);
    const delivered = taken(daemon, service, 1);
    const [{ id } = { id: 0 }] = query<{ id: number }>('SELECT vendorid AS id FROM vendors WHERE vis_state = 0');
    service.sandbox.vendors(service.account).setBalance(id, 'overdue', [{ amount: '7.50', code: 'USD' }]);
    service.sandbox.vendors(service.account).edit(id, { vendor_name: 'Delivered' });
    await delivered;
    await expect
      .poll(() => activeDifferences({ query, sandbox: service.sandbox }), { timeout: 20_000, interval: 500 })
      .toEqual([]);
    const beside = await at.run('sync', '--json');
    expect([beside.stderr, beside.status]).toEqual(['', 0]);

    const added = await at.run('accounts', 'add', 'other', '--json');
    expect(JSON.parse(added.stdout)).toMatchObject({ ok: true, daemon_running: true });
    expect((await at.run('accounts', 'pause', 'other')).status).toBe(0);

    expect(await daemon.end()).toBe(0);
    const again = await at.serve();
    await again.logged('this daemon works from now on');
    expect(again.stderr()).not.toContain('restored from a copy');
    expect(await again.end()).toBe(0);
    expect(await askPostgres(to, 'SELECT name FROM vendor_mirror._processes')).toEqual([]);

    const [callback] = service.sandbox.callbacks(service.account).all();
    const token = /([\w-]{22})(?:$|[/?])/.exec(callback?.uri ?? '')?.[1];
    expect(token).toMatch(/^[\w-]{22}$/);
    const dump = execFileSync('pg_dump', [to], { encoding: 'utf8', maxBuffer: 1e9 });
    expect(dump).toContain('Delivered');
    for (const secret of [token, service.token]) expect(dump).not.toContain(secret);
  });

  it('whose server goes away is waited for: what was delivered meanwhile is refused, sent again and applied', async () => {
    const service = await world();
    const direct = await server.database();
    const proxy = await postgresProxy(direct);
    const at = await program(service, (await place(proxy.address)).store, true);
    const daemon = await at.serveUntilSwept();
    await until(() => service.sandbox.callbacks(service.account).all()[0]?.verified === true);
    // Not through the proxy, which is in this process, and stands still while it asks.
    const query = queryOf(direct);
    const [{ id } = { id: 0 }] = query<{ id: number }>('SELECT vendorid AS id FROM vendors WHERE vis_state = 0');

    proxy.mode = 'down';
    proxy.cutAll();
    const refused = new Promise<void>((resolve) => {
      service.sandbox.onDelivery(({ outcome }) => {
        if (outcome !== 'acknowledged') resolve();
      });
    });
    service.sandbox.vendors(service.account).edit(id, { vendor_name: 'Delivered late' });
    await refused;
    const beside = await at.run('sync');
    expect([beside.status, beside.stderr]).toEqual([69, expect.stringContaining('cannot be reached')]);

    proxy.mode = 'open';
    const nameOf = () => query('SELECT vendor_name AS name FROM vendors WHERE vendorid = ?', id);
    await daemon.logged(`vendor ${id} changed: vendor_name`);
    expect(nameOf()).toEqual([{ name: 'Delivered late' }]);
    expect(await daemon.end()).toBe(0);
  });

  it.skipIf(isMissing(missingPostgres) || !isOwnServer)(
    'takes its password from a file, and says which role was refused with a wrong one',
    async () => {
      const service = await world();
      const address = new URL(await server.database());
      await askPostgres(String(address), `CREATE ROLE ${askedForPassword} LOGIN SUPERUSER PASSWORD 'right'`);
      address.username = askedForPassword;
      const { folder, store } = await place(String(address));
      const file = join(folder, 'password');
      writeFileSync(file, 'wrong', { mode: 0o600 });
      const at = await program(service, `${store}\ndatabasePasswordFile: ${file}`);
      const refused = await at.run('sync');
      expect([refused.status, refused.stderr]).toEqual([77, expect.stringContaining(askedForPassword)]);
      expect(refused.stderr).not.toContain('wrong');
      writeFileSync(file, 'right');
      expect((await at.run('sync')).status).toBe(0);
      expect((await at.run('sync')).status).toBe(0);
    },
  );
});
