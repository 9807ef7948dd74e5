/** Every command with every option that commands share: it changes what the command does, or it is refused. */
import type { Command } from 'commander';
import { beforeEach, describe, expect, it } from 'vitest';
import { declareCommands } from '../../../src/cmd/commands.ts';
import { ProgramCommand } from '../../../src/cmd/options.ts';
import type { ProcessContext } from '../../../src/cmd/process/process-context.ts';
import { packageRoot, run, span, vendor, version, type Row } from '../../support/mirror-file.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const other: Row = { account_id: 'other' };
const callback = {
  event: 'bill_vendor',
  uri: 'https://m.example/webhooks/x/',
  verified: 1,
  checked_at: '2026-11-20 11:59:00.000',
};
const rows = {
  _accounts: ['6BApk', 'other'].map((account_id) => ({ account_id, added_at: '2026-11-20 09:00:00.000' })),
  vendors: [vendor(11), vendor(12, other)],
  vendor_versions: [
    version(11, [], { valid_to: '2026-11-20 10:00:00.000' }),
    version(12, [], { ...other, valid_to: '2026-11-20 10:00:00.000' }),
    version(11, ['note'], { valid_from: '2026-11-20 10:00:00.000' }),
    version(12, ['note'], { ...other, raw: '{"note":"other"}' }),
  ],
  _balance_spans: [span(11, 'EUR', 100), span(12, 'EUR', 700, other)],
  runs: [run(1), run(2, other)],
  callbacks: [
    { account_id: '6BApk', callbackid: 1, ...callback },
    { account_id: 'other', callbackid: 2, ...callback },
  ],
  gateways: ['6BApk', 'other'].map((account_id, index) => ({
    ...{
      account_id,
      sgid: 20 + index,
      id: 1,
      gateway_name: `gateway of ${account_id}`,
      first_seen_at: '2026-11-20 09:00:00.000',
    },
  })),
  deliveries: ['6BApk', 'other'].map((account_id, index) => ({
    ...{
      account_id,
      object_id: 11 + index,
      name: 'bill_vendor.update',
      outcome: 'applied',
      received_at: '2026-11-20 11:00:00.000',
    },
  })),
};

let line: Testbed<'command'>;

beforeEach(async () => {
  line = await testbed({ level: 'command' });
  await line.fill(rows);
});

/** Commands that show or write what is of one account or of all. */
const reading: readonly (readonly string[])[] = [
  ['status', '--json'],
  ['vendors', 'list', '--json'],
  ['vendors', 'show', '12', '--json'],
  ['gateways', 'list', '--json'],
  ['deliveries', 'list', '--json'],
  ['changes'],
  ['doctor', '--json'],
  ...['vendors', 'owed', 'owed_by_day', 'payables', 'vendor_changes', 'vendor_overview', 'freshness', 'gateways'].map(
    (view) => ['export', '-', '--view', view] as const,
  ),
  ['export', '-', '--view', 'payables', '--format', 'json'],
  ['export', '-'],
];

/** Commands about no single account. */
const refusing: readonly (readonly string[])[] = [
  ['notify', 'list'],
  ['notify', 'retry'],
  ['notify', 'forget', 'hooks.example'],
  ['copy'],
  ['secrets', 'export', 'FOLDER/sealed'],
  ['secrets', 'import', 'FOLDER/sealed'],
  ['logout'],
  ['accounts', 'list'],
  ['accounts', 'add', 'third'],
  ['accounts', 'remove', 'third'],
  ['accounts', 'pause', 'other'],
  ['accounts', 'resume', 'other'],
  ['completion', 'bash'],
  ['version'],
  ['export', 'FOLDER/copy.db'],
  ['export', '-', '--query', 'SELECT 1'],
  ['export', '-', '--view', 'data_dictionary'],
  ['export', 'FOLDER/rows.parquet', '--view', 'data_dictionary'],
];

/** Commands that work on the accounts of the settings, which the option restricts. */
const working: readonly string[] = [
  ...['serve', 'sync', 'reconcile', 'verify', 'deliveries retry', 'forget', 'login', 'gateways remove', 'sandbox'],
  ...['create', 'edit', 'delete', 'archive', 'restore'].map((name) => `vendors ${name}`),
  ...['list', 'register', 'verify', 'resend', 'rotate', 'delete'].map((name) => `callbacks ${name}`),
];

function namesOf(command: Command, before = ''): string[] {
  const name = `${before}${command.name()}`;
  return command.commands.length === 0 ? [name] : command.commands.flatMap((one) => namesOf(one, `${name} `));
}

describe('L76 --account', () => {
  it('is decided for every command', () => {
    const root = new ProgramCommand('', () => Promise.resolve());
    declareCommands(root, { packageRoot } as ProcessContext);
    const names = root.commands.flatMap((command) => namesOf(command));
    const decided = new Set(
      [...reading, ...refusing].flatMap(([first = '', second = '']) => [first, `${first} ${second}`]),
    );
    expect(names.filter((name) => !decided.has(name) && !working.includes(name))).toEqual([]);
    expect(names.length).toBeGreaterThan(30);
  });

  it.each(reading)('leaves the other account out: %s %s %s %s', async (...argv) => {
    const all = await line.run(...argv);
    expect(all.stdout).toContain('other');
    const one = await line.run(...argv, '--account', '6BApk');
    expect(one.stdout.replaceAll('another', '').replaceAll('others', '')).not.toContain('other');
    if (!argv.includes('12')) expect(one.stdout).toContain('6BApk');
  });

  it.each(refusing)('is refused where it would change nothing: %s %s %s %s', async (...argv) => {
    const { status, stdout, stderr } = await line.run(
      ...argv.map((word) => word.replace('FOLDER', line.folder)),
      '--account',
      '6BApk',
    );
    expect([status, stdout]).toEqual([64, '']);
    expect(stderr).toMatch(/--account|leave --account out/);
  });

  it('that the settings do not name is refused by every command that takes it', async () => {
    for (const argv of [
      ...reading,
      ['sync'],
      ['reconcile'],
      ['verify'],
      ['serve'],
      ['callbacks', 'list'],
      ['deliveries', 'retry'],
    ])
      expect([argv, (await line.run(...argv, '--account', 'nobody')).status]).toEqual([argv, 64]);
  });
});

describe('L76 --json', () => {
  it.each([
    ...reading
      .filter(([name]) => name !== 'export' && name !== 'changes')
      .map((argv) => argv.filter((word) => word !== '--json')),
    ['notify', 'list'],
    ['accounts', 'list'],
    ['accounts', 'pause', 'other'],
    ['deliveries', 'retry'],
    ['version'],
    ['logout'],
    ['sync'],
    ['verify'],
    ['forget', '--vendor', '11', '--yes', '--account', '6BApk'],
  ])('prints one document: %s %s', async (...argv) => {
    const { stdout } = await line.run(...argv, '--json');
    expect(JSON.parse(stdout)).toHaveProperty('ok');
    expect(stdout.trim().split('\n')).toHaveLength(1);
  });

  it('is refused where there is no document: a completion script, and rows on standard output', async () => {
    for (const argv of [
      ['completion', 'bash'],
      ['export', '-'],
    ]) {
      const { status, stdout } = await line.run(...argv, '--json');
      expect([status, JSON.parse(stdout)]).toMatchObject([64, { ok: false, error: { code: 'usage' } }]);
    }
  });
});
