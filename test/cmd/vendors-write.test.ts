import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { EmbeddedSandbox } from '../../src/sandbox/embedded.ts';
import { pointedAt, service } from './at-service.ts';
import type { CommandLine } from './command-line.ts';

const account = ['--account', '6BApk'];
const acme = ['--set', 'vendor_name=Acme = Sons', '--set', 'language=en', '--set', 'currency_code=USD'];

let sandbox: EmbeddedSandbox;
let line: CommandLine;

beforeEach(async () => {
  sandbox = await service({ vendors: 3 });
  line = pointedAt(sandbox);
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
  it('creates a vendor, and the mirror holds it at once', async () => {
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

  it('takes fields from a file, from standard input, and over them from --set', async () => {
    const file = join(line.folder, 'vendor.json');
    const fields = { vendor_name: 'From file', language: 'en', currency_code: 'USD', note: null, is_1099: false };
    writeFileSync(file, JSON.stringify({ bill_vendor: fields }));
    const fromFile = await line.run('vendors', 'create', '--file', file, '--set', 'city=Boise', '--json', ...account);
    expect(shownIn(fromFile.stdout).record).toMatchObject({ vendor_name: 'From file', city: 'Boise', is_1099: false });

    const piped = pointedAt(sandbox, { stdin: JSON.stringify(fields) });
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
    [[], 'No fields are named'],
    [['--set', 'vendor_name'], '--set takes name=value, not "vendor_name"'],
    [[...acme, '--set', 'colour=red'], '"colour" cannot be set. There are vendor_name, account_number'],
    [[...acme, '--set', 'updated_at=now'], '"updated_at" cannot be set.'],
    [[...acme, '--set', 'is_1099=yes'], 'is_1099 is true, false or null.'],
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
    const { status } = await pointedAt(sandbox, { stdin: text }).run('vendors', 'create', '--file', '-', ...account);
    expect(status).toBe(64);
  });
});

describe('vendors edit', () => {
  it('changes what is named, and the mirror holds it at once', async () => {
    await line.run('sync', ...account);
    const vendorid = anyone();
    const before = truth(vendorid);
    const edits = ['--set', 'city=Boise', '--set', 'phone=null'];
    const { status, stdout } = await line.run('vendors', 'edit', String(vendorid), ...edits, ...account);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^ {2}city +Boise$/m);
    expect(stdout).toMatch(/updated +write/);
    expect(truth(vendorid)).toMatchObject({ city: 'Boise', phone: null, vendor_name: before?.['vendor_name'] });
    expect((await line.run('verify', ...account)).status).toBe(0);
  });

  it('exits with 77 and the words of the service where it refuses', async () => {
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
    expect(stderr).toContain('say --yes');
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
    const asked = pointedAt(sandbox, { typed });
    const told = await asked.run('vendors', 'delete', String(vendorid), ...account);
    expect(told.status).toBe(status);
    expect(told.stderr).toContain(`Delete vendor ${vendorid} (not in the mirror) of 6BApk? [y/N]`);
    expect(truth(vendorid)?.['vis_state']).toBe(state);
  });
});
