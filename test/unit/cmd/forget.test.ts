import { readFileSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { ask, otherConnection } from '../../support/mirror-file.ts';
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
    expect(await refused(64)).toContain('--field NAME, --vendor N, or --account ID alone');
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

  it('removes an account that is no longer mirrored, with what is owed by it', async () => {
    const service = { account: ['6BApk', 'third'] };
    const line = await testbed({ level: 'command', service, settings: 'accounts: [6BApk, third]' });
    await line.run('sync');
    const owed = () => ask(line.database, 'SELECT DISTINCT account_id FROM owed ORDER BY 1');
    expect(owed()).toEqual([{ account_id: '6BApk' }, { account_id: 'third' }]);
    const forgetThird = ['forget', '--account', 'third', '--yes'];
    expect(await line.run(...forgetThird)).toMatchObject({
      status: 64,
      stderr: expect.stringContaining('third is still mirrored: take it out of `accounts` in the settings') as string,
    });
    const settings = readFileSync(line.settings, 'utf8');
    writeFileSync(line.settings, settings.replace('[6BApk, third]', '[6BApk]'));
    const callback = { callbackid: 2001, event: 'bill_vendor', uri: 'https://a.example/', verified: 1, checked_at: '' };
    await line.fill({ callbacks: [{ account_id: 'third', ...callback }] });
    expect(await line.run('forget', '--account', 'third', '--undo', '--yes')).toMatchObject({ status: 64 });
    const { status, stdout, stderr } = await line.run(...forgetThird);
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(/^third is forgotten, with \d+ vendors, and the file was overwritten\.$/m),
    ]);
    expect(stderr).toContain('Its callback 2001 may still be registered');
    expect(owed()).toEqual([{ account_id: '6BApk' }]);
    expect(await line.run(...forgetThird)).toMatchObject({
      status: 64,
      stderr: expect.stringContaining('The settings do not name the account third') as string,
    });
    expect((await line.run('sync')).status).toBe(0);

    await line.run('accounts', 'add', 'third');
    expect(await line.run(...forgetThird)).toMatchObject({
      status: 64,
      stderr: expect.stringContaining('run `vendor-mirror accounts remove third` first') as string,
    });
  });

  it('names the accounts of the mirror that the settings do not name, where it holds none of the given name', async () => {
    const service = { account: ['6BApk', 'third'] };
    const line = await testbed({ level: 'command', service, settings: 'accounts: [6BApk, third]' });
    await line.run('sync');
    writeFileSync(line.settings, readFileSync(line.settings, 'utf8').replace('[6BApk, third]', '[6BApk]'));
    expect(await line.run('forget', '--account', 'thrid', '--yes')).toMatchObject({
      status: 64,
      stderr: expect.stringContaining(
        'The settings do not name the account thrid; they name 6BApk, and the mirror also holds third.',
      ) as string,
    });
  });

  it('leaves an account that another settings file of the mirror names', async () => {
    const service = { account: ['6BApk', 'third'] };
    const line = await testbed({ level: 'command', service, settings: 'accounts: [6BApk, third]' });
    await line.run('sync');
    writeFileSync(line.settings, readFileSync(line.settings, 'utf8').replace('[6BApk, third]', '[6BApk]'));
    otherConnection(line.database).exec(
      `UPDATE _accounts SET settings_file = '/other.yaml' WHERE account_id = 'third'`,
    );
    expect(await line.run('forget', '--account', 'third', '--yes')).toMatchObject({
      status: 64,
      stderr: expect.stringContaining('Another settings file of this mirror names third') as string,
    });
  });
});
