import { existsSync, renameSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { systemClock, type Clock } from '../../../src/domain/clock.ts';
import { testbed } from '../../support/testbed.ts';

/** A run reads all by id that it may, however slow the machine is: the time that a person waits never ends. */
const unhurried: Clock = {
  ...systemClock,
  timer: (ms, run) => (ms < 3_000 ? systemClock.timer(ms, run) : () => undefined),
};

/** What takes long is told line by line. */
const withoutProgress = (stderr: string): string => stderr.replace(/^\w+: \d+ of \d+ vendors .*\n/gm, '');

describe('verify', () => {
  it('exits with 0 where mirror and source are equal, and writes no vendor', async () => {
    const line = await testbed({ level: 'command', service: {}, clock: unhurried });
    await line.run('sync');
    const { stdout: before } = await line.run('changes');
    const { status, stdout, stderr } = await line.run('verify', '--verbose');
    expect([status, withoutProgress(stderr)]).toEqual([0, '']);
    expect(stdout).toMatchInlineSnapshot(`
      "account  outcome  in source  in mirror  differ  in flight
      6BApk    equal           30         30       0          0
      other    equal           30         30       0          0
      "
    `);
    expect((await line.run('changes')).stdout).toBe(before);
  });

  it('takes a mirror that another process begins meanwhile for the one that it stands in for', async () => {
    let arrives = (): void => undefined;
    const clock = {
      ...systemClock,
      now() {
        arrives();
        return systemClock.now();
      },
    };
    const line = await testbed({ level: 'command', service: {}, settings: 'accounts: [6BApk]', clock });
    await line.run('sync');
    const away = `${line.database}.away`;
    renameSync(line.database, away);
    arrives = () => {
      if (existsSync(away)) renameSync(away, line.database);
    };
    const { status, stdout, stderr } = await line.run('verify');
    expect([status, stderr]).toEqual([1, expect.stringContaining('30 vendors differ')]);
    expect(stdout).toMatch(/only in source/);
  });

  it('exits with 1 and shows each difference', async () => {
    const { baseUrl, token, sandbox } = await testbed({ level: 'sandbox', vendors: 12 });
    const line = await testbed({ level: 'command', service: { baseUrl, token }, clock: unhurried });
    await line.run('sync', '--account', '6BApk');
    const vendorService = sandbox.vendors('6BApk');
    const [edited, gone] = vendorService.listed().map(({ vendorid }) => Number(vendorid));
    vendorService.edit(edited!, { city: 'Elsewhere', phone: '1' });
    vendorService.vanish(gone!);
    vendorService.create({ vendor_name: 'New', language: 'en', currency_code: 'EUR' });

    const { status, stdout, stderr } = await line.run('verify', '--account', '6BApk', '--verbose');
    expect(status).toBe(1);
    expect(stdout).toMatchInlineSnapshot(`
      "account  outcome    in source  in mirror  differ  in flight
      6BApk    different         12         12       3          0

      Account 6BApk
      vendorid  how             fields
          1006  different       phone, city, updated_at
          1007  only in mirror  presence
          1087  only in source  –
      "
    `);
    expect(withoutProgress(stderr)).toBe('vendor-mirror: 6BApk: 3 vendors differ.\n  Run `vendor-mirror reconcile`.\n');

    const json = await line.run('verify', '--account', '6BApk', '--json');
    expect(json.status).toBe(1);
    expect(JSON.parse(json.stdout)).toEqual({
      ok: false,
      accounts: [
        {
          account: '6BApk',
          outcome: 'different',
          source_total: 12,
          mirror_total: 12,
          not_compared: null,
          in_flight: [],
          differences: [
            { vendorid: edited, kind: 'different', fields: expect.arrayContaining(['city', 'phone']) as string[] },
            { vendorid: gone, kind: 'only_in_mirror', fields: ['presence'] },
            { vendorid: expect.any(Number) as number, kind: 'only_in_source', fields: [] },
          ],
        },
      ],
    });
  });

  it('L14 says what it did not compare, and exits with 1', async () => {
    const sandbox = await testbed({ level: 'sandbox', vendors: 220, world: { listDeleted: 'shown' } });
    const line = await testbed({ level: 'command', service: sandbox, clock: unhurried });
    await line.run('sync', '--account', '6BApk');
    const { status, stdout, stderr } = await line.run('verify', '--account', '6BApk');
    expect(stdout).toMatch(/^6BApk +partial +220 +220 +0 +0$/m);
    expect(status).toBe(1);
    expect(stderr).toContain(
      'vendor-mirror: 6BApk: Not compared: note of 20 vendors. All else is equal.\n  Run `vendor-mirror verify --full`, which reads all vendors by id.\n',
    );
  });

  it('shows twenty differences, and says how many more there are', async () => {
    const line = await testbed({
      level: 'command',
      service: { vendors: 30, account: ['6BApk'] },
    });
    const { status, stdout } = await line.run('verify', '--account', '6BApk', '--verbose');
    expect(status).toBe(1);
    expect(stdout.match(/only in source/g)).toHaveLength(20);
    expect(stdout).toMatch(/… and \d+ more; --json lists all of them\./);
  });

  it("exits with the error's own status where the source cannot be walked", async () => {
    const { baseUrl } = await testbed({ level: 'sandbox' });
    const { status, stdout } = await (
      await testbed({ level: 'command', service: { baseUrl, token: 'not-it' } })
    ).run('verify', '--json');
    expect(status).toBe(77);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      accounts: [{ outcome: 'incomplete', differences: [], error: { code: 'unauthenticated' } }, {}],
    });
  });
});
