/** The program asks a mirror in PostgreSQL, and the service beside it: `verify`, `doctor`, `status`. */
import { describe, expect, it } from 'vitest';
import { isMissing } from '../support/needed.ts';
import { storeSettings } from '../support/postgres-schema.ts';
import { missingPostgres } from '../support/postgres-server.ts';
import { postgresServer } from '../support/postgres.ts';
import { testbed } from '../support/testbed.ts';

const server = postgresServer();

interface Checks {
  readonly ok: boolean;
  readonly checks: readonly { readonly check: string; readonly result: string; readonly message: string }[];
}

describe.skipIf(isMissing(missingPostgres))('a mirror in PostgreSQL', () => {
  it('is compared with the service, examined, and shown beside its daemon', async () => {
    const service = await testbed({ level: 'sandbox', world: { noteInList: 'yes' }, vendors: 30 });
    const store = storeSettings(await server.database());
    const settings = 'sync: { lag: 0s, secondLook: 1s }';
    const at = await testbed({ level: 'program', service, store, listens: true, settings });
    const before = await at.run('doctor', '--json');
    const found = (JSON.parse(before.stdout) as Checks).checks;
    expect(found.find(({ check }) => check === 'database')).toMatchObject({ result: 'warning' });
    expect(found.filter(({ result }) => result === 'problem')).toEqual([]);

    const daemon = await at.serveUntilSwept();
    const status = JSON.parse((await at.run('status', '--json')).stdout) as Record<string, unknown>;
    expect(status).toMatchObject({ ready: true, disk_free_bytes: null });
    expect(status['database_bytes']).toBeGreaterThan(100_000);
    const verify = await at.run('verify', '--json');
    expect([verify.status, JSON.parse(verify.stdout)]).toMatchObject([0, { accounts: [{ outcome: 'equal' }] }]);
    const beside = JSON.parse((await at.run('doctor', '--json')).stdout) as Checks;
    expect(beside.checks.filter(({ result }) => result === 'problem')).toEqual([]);
    expect(beside.checks.find(({ check }) => check === 'callbacks')).toMatchObject({ result: 'ok' });
    expect(beside.checks.find(({ check }) => check === 'secrets')?.message).toMatch(/: [1-9]\d* values\.$/);
    expect(await daemon.end()).toBe(0);
    expect(JSON.parse((await at.run('status', '--json')).stdout)).toMatchObject({ started_at: null });
  });
});
