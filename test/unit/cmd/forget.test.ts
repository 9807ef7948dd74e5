import { writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { testbed, type Testbed } from '../../support/testbed.ts';

let line: Testbed<'command'>;

beforeEach(async () => {
  line = await testbed({
    level: 'command',
    service: await testbed({ level: 'sandbox', vendors: 5 }),
    settings: 'vendors: { exclude: [phone] }',
  });
});

describe('forget', () => {
  it('refuses what cannot be forgotten or would come back, and asks for confirmation first', async () => {
    await line.run('sync', '--account', '6BApk');
    const refused = async (status: number, ...argv: string[]): Promise<string> => {
      const outcome = await line.run('forget', ...argv);
      expect(outcome.status).toBe(status);
      return outcome.stdout + outcome.stderr;
    };
    expect(await refused(64)).toContain('--field NAME or --vendor N');
    expect(await refused(64, '--field', 'updated_at', '--yes')).toContain(
      'updated_at cannot be forgotten: the mirror needs it to stay correct.',
    );
    expect(await refused(64, '--field', 'phone', 'note', '--yes')).toContain(
      'The next sweep would bring note back: add it to vendors.exclude',
    );
    expect(await refused(64, '--field', 'phone')).toContain('use --yes');
    expect(await refused(64, '--vendor', '7', '--yes')).toContain('--account');
    expect(await refused(1, '--vendor', '7', '--yes', '--account', '6BApk')).toContain(
      'The mirror holds no vendor 7 of 6BApk.',
    );
  });

  it('removes a field everywhere, and says which copies may still hold it', async () => {
    await line.run('sync', '--account', '6BApk');
    writeFileSync(`${line.database}.corrupt-2026-11-20`, '');
    const { status, stdout, stderr } = await line.run('forget', '--field', 'phone', '--yes');
    expect([status, stdout]).toEqual([
      0,
      'phone: removed from 0 vendors and 0 earlier versions, and the file was overwritten.\n',
    ]);
    expect(stderr).toContain('Exports, backups');
    expect(stderr).toContain(`It may still be in ${line.database}.corrupt-2026-11-20.`);
  });

  it('names rows in PostgreSQL among the copies that may still hold it', async () => {
    const to = 'postgres://mirror@127.0.0.1:1/reports';
    const beside = await testbed({
      level: 'command',
      service: {},
      settings: `vendors: { exclude: [phone] }\npublish: [{ to: "${to}" }]`,
    });
    await beside.run('sync', '--account', '6BApk');
    const { stderr } = await beside.run('forget', '--field', 'phone', '--yes');
    expect(stderr).toContain(`It may still be in ${to}#vendor_mirror.`);
  });

  it('removes a vendor by its number, shows its name in the question, and mirrors it again with --undo', async () => {
    await line.run('sync', '--account', '6BApk');
    const { stdout } = await line.run('vendors', 'list', '--json', '--account', '6BApk');
    const { vendors } = JSON.parse(stdout) as { vendors: { vendorid: number; vendor_name: string }[] };
    const { vendorid, vendor_name } = vendors[0]!;
    const which = ['--vendor', String(vendorid), '--account', '6BApk'];
    expect(JSON.parse((await line.run('forget', ...which, '--yes', '--json')).stdout)).toEqual({
      ok: true,
      account: '6BApk',
      vendorid,
      copies: [],
    });
    await line.run('sync', '--account', '6BApk');
    const forgotten = await line.run('vendors', 'show', String(vendorid));
    expect([forgotten.status, forgotten.stderr]).toEqual([
      1,
      expect.stringMatching(`has forgotten vendor ${vendorid} of 6BApk.*\n.*forget --undo ${which.join(' ')}`),
    ]);
    expect(await line.run('forget', ...which, '--undo')).toMatchObject({ status: 0 });
    await line.run('sync', '--account', '6BApk');
    const shown = await line.run('vendors', 'show', String(vendorid), '--account', '6BApk');
    expect(shown.stdout).toContain(vendor_name);
  });
});
