/** Runs whose process was killed: `status` and `doctor` ask the lock of the process, and change nothing. */
import { readdirSync, writeFileSync } from 'node:fs';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { systemRandom } from '../../../src/domain/clock.ts';
import { lockProcess } from '../../../src/store/files/locks.ts';
import { run, type Row } from '../../support/mirror-file.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const dead = '00112233445566778899aabbccddeeff';
const running = (id: number, process: string | null, told: Row = {}): Row =>
  run(id, { outcome: 'running', finished_at: null, safe_as_of: null, process, ...told });
const both = ['6BApk', 'other'].map((account_id) => ({ account_id, added_at: '2026-11-20 09:00:00.000' }));
const under = ({ database }: Testbed<'command'>): string => `${database}.lock-${dead}`;

interface Shown {
  readonly verdict: object;
  readonly causes: readonly object[];
  readonly accounts: readonly { readonly runs: readonly object[] }[];
}

let line: Testbed<'command'>;
beforeEach(async () => {
  line = await testbed({ level: 'command', columns: 200, env: { NO_COLOR: '1' } });
});

async function shown(...account: string[]): Promise<Shown> {
  return JSON.parse((await line.run('status', '--json', ...account)).stdout) as Shown;
}

it.each([
  ['named in its row', dead, false],
  ['whose lock file was left', dead, true],
  ['of a version that named none', null, false],
])(
  'K9 a first pull that was killed, of a process %s, was cut off, and sync is to be run again',
  async (_, process, isLeft) => {
    await line.fill({ _accounts: both.slice(0, 1), runs: [running(1, process, { seen: 1600 })] });
    if (isLeft) writeFileSync(under(line), '', { mode: 0o600 });
    const before = readdirSync(line.folder);
    const { verdict, causes, accounts } = await shown('--account', '6BApk');
    expect(verdict).toMatchObject({ code: 'never_mirrored', tone: 'bad', since: '2026-11-20 11:55:00.000' });
    expect(causes).toMatchObject([
      {
        message: 'No sweep was complete yet. The last pull was cut off: The process ended during the run.',
        what_to_do: 'Run `vendor-mirror sync` again.',
      },
    ]);
    expect(accounts[0]!.runs).toMatchObject([{ id: 1, outcome: 'abandoned', finished_at: null }]);
    const { stdout } = await line.run('status', '--account', '6BApk');
    expect(stdout).toMatch(/^Nothing is mirrored completely yet, since .*; one thing to do\.\n/);
    expect(stdout).toMatch(/\n +1 +pull +command +abandoned +5 min ago +– +1600 /);
    expect(readdirSync(line.folder)).toEqual(before);
    const doctor = (await line.run('doctor', '--account', '6BApk')).stdout;
    expect(doctor).toContain('The last pull was cut off');
    expect(doctor).toContain('Run `vendor-mirror sync` again.');
    expect(doctor).not.toContain('Run `vendor-mirror status`');
  },
);

it('K9 after a complete run, a reconciliation that was killed needs attention', async () => {
  await line.fill({ _accounts: both.slice(0, 1), runs: [run(1), running(2, dead, { kind: 'reconcile' })] });
  const { verdict, causes } = await shown('--account', '6BApk');
  expect(verdict).toMatchObject({ code: 'last_run', tone: 'fair' });
  expect(causes).toMatchObject([{ code: 'last_run', what_to_do: 'Run `vendor-mirror reconcile` again.' }]);
});

it('K9 of two accounts, the one whose process lives is being read, and the other was cut off', async () => {
  await line.fill({ _accounts: both, runs: [] });
  const process = lockProcess(line.database, systemRandom);
  onTestFinished(() => process.release());
  await line.fill({ runs: [running(1, dead), running(2, process.name, { account_id: 'other' })] });
  const { causes } = await shown();
  expect(causes).toMatchObject([
    { code: 'never_mirrored', accounts: ['6BApk'] },
    { code: 'first_pull', accounts: ['other'], what_to_do: null },
  ]);
});

it('K9 a run is not called cut off whose process cannot be asked about', async () => {
  await line.fill({ _accounts: both.slice(0, 1), runs: [running(1, 'of another kind')] });
  const { causes } = await shown('--account', '6BApk');
  expect(causes).toMatchObject([
    { code: 'first_pull', what_to_do: 'Run `vendor-mirror status` as the user who pulls.' },
  ]);
});
