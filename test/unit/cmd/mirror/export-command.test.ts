import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Driver from 'better-sqlite3';
import { beforeEach, describe, expect, it } from 'vitest';
import { vendor } from '../../../support/mirror-file.ts';
import { testbed, type Testbed } from '../../../support/testbed.ts';

let line: Testbed<'command'>;

beforeEach(async () => {
  line = await testbed({ level: 'command' });
  await line.fill({ vendors: [vendor(11, { vendor_name: '=HYPERLINK("http://x")' }), vendor(12)] });
});

describe('export', () => {
  it('writes a copy that any reader opens, and says how large it is', async () => {
    const file = join(line.folder, 'copy.db');
    const { status, stdout, stderr } = await line.run('export', file);
    expect([status, stdout]).toEqual([0, '']);
    expect(stderr).toBe(`${file} is written: ${statSync(file).size.toLocaleString('en')} bytes.\n`);
    const copy = new Driver(file, { readonly: true });
    expect(copy.prepare('SELECT count(*) FROM active_vendors').pluck().get()).toBe(2);
    copy.close();
  });

  it('writes a spreadsheet where the name ends in .csv', async () => {
    const file = join(line.folder, 'vendors.CSV');
    const { stdout } = await line.run('export', file, '--json');
    expect(JSON.parse(stdout)).toEqual({ ok: true, file, bytes: statSync(file).size });
    expect(readFileSync(file, 'utf8').split('\r\n')[1]).toContain(`"'=HYPERLINK(""http://x"")"`);
  });

  it('exits with 64 rather than overwrite the mirror', async () => {
    const { status, stderr } = await line.run('export', line.database);
    expect(status).toBe(64);
    expect(stderr).toContain('is the mirror itself');
  });

  it('exits with 74 where it cannot write, and leaves nothing behind', async () => {
    const { status, stderr } = await line.run('export', join(line.folder, 'no/such/folder.db'));
    expect(status).toBe(74);
    expect(stderr).toContain('ENOENT');
    expect(readdirSync(line.folder).sort()).toEqual(['mirror.yaml', 'vendors.db']);
  });

  it('exits with 1 where there is nothing to export yet', async () => {
    const empty = await testbed({ level: 'command' });
    const file = join(empty.folder, 'copy.db');
    const { status, stdout, stderr } = await empty.run('export', file, '--json');
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toEqual({ ok: false, file: null, bytes: 0 });
    expect(stderr).toBe('Nothing is mirrored yet. Run `vendor-mirror sync`.\n');
    expect(existsSync(file)).toBe(false);
  });
});
