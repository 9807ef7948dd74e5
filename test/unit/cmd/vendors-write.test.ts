import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { EmbeddedSandbox } from '../../../src/sandbox/embedded.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const fixture = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../fixtures/${name}.json`, import.meta.url), 'utf8'));

const account = ['--account', '6BApk'];
const acme = ['--set', 'vendor_name=Acme = Sons', '--set', 'language=en', '--set', 'currency_code=USD'];

let sandbox: EmbeddedSandbox;
let line: Testbed<'command'>;

beforeEach(async () => {
  sandbox = await testbed({ level: 'sandbox', vendors: 3 });
  line = await testbed({ level: 'command', service: sandbox });
});

interface Shown {
  readonly source: string;
  readonly record: Record<string, unknown>;
}

function shownIn(stdout: string): Shown {
  const { vendors } = JSON.parse(stdout) as { vendors: Shown[] };
  expect(vendors).toHaveLength(1);
  return vendors[0]!;
}

const truth = (vendorid: unknown): Record<string, unknown> | undefined =>
  sandbox.sandbox
    .vendors('6BApk')
    .all()
    .find((vendor) => vendor['vendorid'] === vendorid);

const anyone = (): number => Number(sandbox.sandbox.vendors('6BApk').listed()[0]?.['vendorid']);

describe('vendors create', () => {
  it('creates a vendor, which is in the mirror at once', async () => {
    const { status, stdout } = await line.run(
      'vendors',
      'create',
      ...acme,
      '--set',
      'is_1099=true',
      '--json',
      ...account,
    );
    expect(status).toBe(0);
    const { source, record } = shownIn(stdout);
    expect([source, record]).toMatchObject(['write', { vendor_name: 'Acme = Sons', is_1099: true, vis_state: 0 }]);
    expect(truth(record['vendorid'])).toMatchObject({ vendor_name: 'Acme = Sons', is_1099: true });
    expect((await line.run('vendors', 'show', String(record['vendorid']))).stdout).toContain('Acme = Sons');
  });

  it('takes fields from a file or standard input, and --set overrides them', async () => {
    const file = join(line.folder, 'vendor.json');
    const fields = { vendor_name: 'From file', language: 'en', currency_code: 'USD', note: null, is_1099: false };
    writeFileSync(file, JSON.stringify({ bill_vendor: fields }));
    const fromFile = await line.run('vendors', 'create', '--file', file, '--set', 'city=Boise', '--json', ...account);
    expect(shownIn(fromFile.stdout).record).toMatchObject({ vendor_name: 'From file', city: 'Boise', is_1099: false });

    const piped = await testbed({ level: 'command', service: sandbox, stdin: JSON.stringify(fields) });
    const named = ['--set', 'vendor_name=Other', '--set', 'phone='];
    const { stdout } = await piped.run('vendors', 'create', '--file', '-', ...named, '--json', ...account);
    expect(shownIn(stdout).record).toMatchObject({ vendor_name: 'Other', phone: '' });
  });

  it.each([
    [['--set', 'note=x'], 'A new vendor needs vendor_name, language, and currency_code: add --set vendor_name=… '],
    [
      ['--set', 'vendor_name=Acme', '--set', 'language='],
      'A new vendor needs language and currency_code: add --set language=… --set currency_code=…',
    ],
    [[], 'No fields are given'],
    [['--set', 'vendor_name'], '--set takes name=value, not "vendor_name"'],
    [[...acme, '--set', 'colour=red'], '"colour" cannot be set. Fields that can be set: vendor_name, account_number'],
    [[...acme, '--set', 'updated_at=now'], '"updated_at" cannot be set.'],
    [[...acme, '--set', 'is_1099=yes'], 'is_1099 is true, false or null.'],
    [[...acme, '--set', 'tax_defaults=none'], 'The fields cannot be read from --set tax_defaults: '],
    [[...acme, '--set', 'tax_defaults=null'], 'tax_defaults is a list of objects'],
    [[...acme, '--set', 'tax_defaults=[5]'], 'A tax default is an object.'],
    [[...acme, '--set', 'tax_defaults=[{"enabled":true}]'], 'A tax default needs system_taxid'],
    [[...acme, '--set', 'tax_defaults=[{"system_taxid":"x"}]'], 'system_taxid of a tax default is a whole number'],
    [[...acme, '--set', 'tax_defaults=[{"system_taxid":1,"name":"GST"}]'], '"name" of a tax default cannot be set.'],
    [[...acme, '--set', 'vis_state=1'], '`vendors delete`, `archive` and `restore`'],
    [[...acme, '--file', 'nowhere.json'], 'The fields cannot be read from nowhere.json'],
  ])('exits with 64 for %j, before anything is sent', async (fields, message) => {
    const before = sandbox.sandbox.vendors('6BApk').all().length;
    const { status, stderr } = await line.run('vendors', 'create', ...fields, ...account);
    expect(status).toBe(64);
    expect(stderr).toContain(message);
    expect(sandbox.sandbox.vendors('6BApk').all()).toHaveLength(before);
  });

  it.each([['[]'], ['"text"'], ['{"vendor_name": 5}'], ['{']])('exits with 64 for the file %s', async (text) => {
    const { status } = await (
      await testbed({ level: 'command', service: sandbox, stdin: text })
    ).run('vendors', 'create', '--file', '-', ...account);
    expect(status).toBe(64);
  });
});

describe('tax defaults', () => {
  it('K35 the body of a creation in the reference is accepted', async () => {
    const file = join(line.folder, 'vendor.json');
    writeFileSync(file, JSON.stringify(fixture('vendor-create-request')));
    const { status, stdout } = await line.run('vendors', 'create', '--file', file, '--json', ...account);
    expect(status).toBe(0);
    expect(shownIn(stdout).record).toMatchObject({ vendor_name: 'Northwind Supply', tax_defaults: [] });
  });

  it('K35 are set at the service and in the mirror, by a file and by --set', async () => {
    const taxes = [
      { system_taxid: 36859, enabled: true, tax_authorityid: 'DE 1' },
      { system_taxid: 37696, enabled: false, tax_authorityid: null },
    ];
    const piped = await testbed({ level: 'command', service: sandbox, stdin: JSON.stringify({ tax_defaults: taxes }) });
    const created = await piped.run('vendors', 'create', '--file', '-', ...acme, '--json', ...account);
    const { vendorid, tax_defaults } = shownIn(created.stdout).record;
    expect(tax_defaults).toMatchObject(taxes);
    expect(truth(vendorid)?.['tax_defaults']).toMatchObject(taxes);

    const one = 'tax_defaults=[{"system_taxid": 37701}]';
    const edited = await piped.run('vendors', 'edit', String(vendorid), '--set', one, '--json', ...account);
    expect(shownIn(edited.stdout).record['tax_defaults']).toMatchObject([{ system_taxid: 37701, enabled: true }]);
    expect(truth(vendorid)?.['tax_defaults']).toHaveLength(1);
  });
});

describe('text on its way to the service', () => {
  const latin1 = Buffer.from('{"vendor_name": "Café", "language": "en", "currency_code": "USD"}', 'latin1');

  it.each([
    ['a file in Latin-1', latin1, 'is not UTF-8 text'],
    ['a lone surrogate', '{"vendor_name": "Caf\\ud800", "language": "en", "currency_code": "USD"}', 'half a character'],
    [
      'a lone surrogate in a tax default',
      '{"tax_defaults": [{"system_taxid": 36859, "tax_authorityid": "\\udc00"}]}',
      'tax_authorityid of a tax default is text or null.',
    ],
  ])('K48 is refused with 64 before anything is sent: %s', async (_, content, words) => {
    const file = join(line.folder, 'vendor.json');
    writeFileSync(file, content);
    const piped = await testbed({ level: 'command', service: sandbox, stdin: content });
    const before = sandbox.sandbox.vendors('6BApk').all().length;
    for (const [on, name] of [
      [line, file],
      [piped, '-'],
    ] as const) {
      const { status, stderr } = await on.run('vendors', 'create', '--file', name, ...account);
      expect([status, stderr]).toEqual([64, expect.stringContaining(words)]);
    }
    expect(sandbox.sandbox.vendors('6BApk').all()).toHaveLength(before);
  });

  it.each([['\ufffd'], ['\ud800']])('K48 is refused with 64 where an argument was damaged: %j', async (half) => {
    const { status, stderr } = await line.run('vendors', 'create', ...acme, '--set', `city=M${half}nchen`, ...account);
    expect([status, stderr]).toEqual([64, expect.stringContaining('--set city is not UTF-8 text')]);
    expect(sandbox.sandbox.vendors('6BApk').all()).toHaveLength(3);
  });

  it('K48 loses its byte order mark, and arrives unchanged otherwise', async () => {
    const file = join(line.folder, 'vendor.json');
    writeFileSync(file, `\ufeff${JSON.stringify({ vendor_name: 'Café 🦁', language: 'en', currency_code: 'USD' })}`);
    const { status, stdout } = await line.run('vendors', 'create', '--file', file, '--json', ...account);
    expect(status).toBe(0);
    expect(truth(shownIn(stdout).record['vendorid'])).toMatchObject({ vendor_name: 'Café 🦁' });
  });
});

describe('vendors edit', () => {
  it('changes the named fields, in the mirror at once', async () => {
    await line.run('sync', ...account);
    const vendorid = anyone();
    const before = truth(vendorid);
    const edits = ['--set', 'city=Boise', '--set', 'phone=null'];
    const { status, stdout } = await line.run('vendors', 'edit', String(vendorid), ...edits, ...account);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^ {2}city +Boise$/m);
    expect(stdout).toContain('updated, learned by a command of ours\n');
    expect(stdout).toMatch(/^ {4}city +.+ → Boise$/m);
    expect(truth(vendorid)).toMatchObject({ city: 'Boise', phone: null, vendor_name: before?.['vendor_name'] });
    expect((await line.run('verify', ...account)).status).toBe(0);
  });

  it('exits with 77 and the message of the service if it refuses', async () => {
    const long = `note=${'x'.repeat(2_000)}`;
    const refused = await line.run('vendors', 'edit', String(anyone()), '--set', long, ...account);
    expect(refused.status).toBe(77);
    expect(refused.stderr).toContain('note is too long. (field note, errno 1017)');
    const unknown = await line.run('vendors', 'edit', '99999999', '--set', 'city=x', '--json', ...account);
    expect(unknown.status).toBe(77);
    expect(JSON.parse(unknown.stdout)).toMatchObject({ ok: false, error: { code: 'not_found' } });
  });
});

describe('vendors delete, archive and restore', () => {
  it('move a vendor between its states, and the mirror at once', async () => {
    const vendorid = String(anyone());
    for (const [command, state] of [
      [['delete', vendorid, '--yes'], 1],
      [['restore', vendorid], 0],
      [['archive', vendorid], 2],
      [['restore', vendorid], 0],
    ] as const) {
      const { status, stdout } = await line.run('vendors', ...command, '--json', ...account);
      expect(status).toBe(0);
      expect(shownIn(stdout).record['vis_state']).toBe(state);
      expect(truth(Number(vendorid))?.['vis_state']).toBe(state);
    }
  });

  it('delete nothing without a confirmation where nobody can be asked', async () => {
    const { status, stderr } = await line.run('vendors', 'delete', String(anyone()), ...account);
    expect(status).toBe(64);
    expect(stderr).toContain('use --yes');
    expect(truth(anyone())?.['vis_state']).toBe(0);
  });

  it.each([
    ['y\n', 0, 1],
    ['YES\n', 0, 1],
    ['\n', 1, 0],
    ['no\n', 1, 0],
    ['', 1, 0],
  ])('ask the person at the terminal: %j', async (typed, status, state) => {
    await line.run('sync', ...account);
    const vendorid = anyone();
    const asked = await testbed({ level: 'command', service: sandbox, typed });
    const told = await asked.run('vendors', 'delete', String(vendorid), ...account);
    expect(told.status).toBe(status);
    expect(told.stderr).toContain(`Delete vendor ${vendorid} (not in the mirror) of 6BApk? [y/N]`);
    expect(truth(vendorid)?.['vis_state']).toBe(state);
  });
});

describe('fields that are kept out of the mirror', () => {
  it('cannot be set, and edits of other fields work as usual', async () => {
    line = await testbed({ level: 'command', service: sandbox, settings: 'vendors: { exclude: [phone] }' });
    await line.run('sync', ...account);
    const edit = (pair: string) => line.run('vendors', 'edit', String(anyone()), '--set', pair, ...account);
    const { status, stderr } = await edit('phone=1');
    expect([status, stderr]).toEqual([
      64,
      expect.stringContaining('phone is kept out of the mirror (vendors.exclude)'),
    ]);
    expect(truth(anyone())?.['phone']).not.toBe('1');
    expect(await edit('city=Ulm')).toMatchObject({ status: 0, stderr: '' });
  });
});
