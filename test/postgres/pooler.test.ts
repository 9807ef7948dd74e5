/** A mirror in PostgreSQL behind a pooler that gives each transaction another session. */
import { describe, expect, it } from 'vitest';
import { isMissing } from '../support/needed.ts';
import { missingPooler, pooled } from '../support/pooler.ts';
import { storeSettings } from '../support/postgres-schema.ts';
import { isOwnServer, missingPostgres } from '../support/postgres-server.ts';
import { askPostgres, postgresServer } from '../support/postgres.ts';
import { until } from '../support/testbed/daemon-process.ts';
import { testbed } from '../support/testbed.ts';

const server = postgresServer();
/** Fewer than the connections of a daemon and a command. */
const sessions = 2;

describe.skipIf(isMissing(missingPostgres ?? missingPooler) || !isOwnServer)('PgBouncer in transaction mode', () => {
  it('is all that a daemon and commands beside it need, and doctor says that it is there', async () => {
    const direct = await server.database();
    const service = await testbed({ level: 'sandbox', world: { noteInList: 'yes' }, vendors: 20 });
    const at = await testbed({
      level: 'program',
      service,
      listens: true,
      store: storeSettings(await pooled(direct, sessions)),
      settings: 'sync: { lag: 0s, secondLook: 1s }',
    });
    const daemon = await at.serveUntilSwept();
    await until(() => service.sandbox.callbacks(service.account).all()[0]?.verified === true);
    const vendors = service.sandbox.vendors(service.account);
    const vendorid = Number(vendors.listed()[0]?.['vendorid']);
    const nameNow = () =>
      askPostgres(direct, 'SELECT vendor_name FROM vendor_mirror.vendors WHERE vendorid = $1', [vendorid]);
    vendors.edit(vendorid, { vendor_name: 'Behind a pooler' });
    await daemon.logged(`vendor ${vendorid} changed: vendor_name`);
    expect(await nameNow()).toEqual([{ vendor_name: 'Behind a pooler' }]);

    const [sync, doctor] = await Promise.all([at.run('sync'), at.run('doctor', '--json')]);
    expect([sync.stderr, sync.status]).toEqual(['', 0]);
    const { checks } = JSON.parse(doctor.stdout) as { checks: { check: string; result: string; message: string }[] };
    expect(checks).toContainEqual(
      expect.objectContaining({ check: 'pooler', message: expect.stringMatching(/go through a pooler/) as string }),
    );
    expect(checks.filter(({ result }) => result === 'problem')).toEqual([]);
    const used = await askPostgres<{ n: number }>(
      direct,
      `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    expect(used[0]?.n).toBeLessThanOrEqual(sessions);
    expect(await daemon.end()).toBe(0);
  });
});
