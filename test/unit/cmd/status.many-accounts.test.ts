/** `status` with many accounts, at three widths of a terminal. */
import { expect, it } from 'vitest';
import { screenOf } from '../../support/screen/screen.ts';
import { testbed } from '../../support/testbed.ts';
import { run, span, vendor } from '../../support/mirror-file.ts';

const ids = Array.from({ length: 300 }, (_, index) => `ac${String(index).padStart(3, '0')}`);

it.each([40, 80, 120])(
  'L80 status of 300 accounts fits %i columns: sums, and with --all a line for each, those in trouble first',
  async (columns) => {
    const line = await testbed({
      level: 'command',
      settings: `accounts: [${ids.join(', ')}]\nsandbox: { vendors: 30, seed: 1, churn: 0 }`,
      columns,
    });
    await line.fill({
      _accounts: ids.map((account_id) => ({ account_id, added_at: '2026-11-20 09:00:00.000' })),
      runs: ids
        .filter((id) => id !== 'ac217')
        .map((account_id, index) => run(index + 1, { account_id, safe_as_of: '2026-11-20 11:58:00.000' })),
      vendors: ids.flatMap((account_id) => [1, 2, 3, 4].map((id) => vendor(id, { account_id }))),
      _balance_spans: ids.map((account_id) => span(1, 'EUR', 100_001n, { account_id })),
    });
    const sums = screenOf((await line.run('status')).stdout);
    expect(Math.max(...sums.map((text) => text.length))).toBeLessThanOrEqual(columns);
    expect(sums.length).toBeLessThan(60);
    expect(sums.join(' ').replace(/\s+/g, ' ')).toContain('vendor-mirror status --all');
    expect(sums.join(' ').replace(/\s+/g, ' ')).toContain('vendors 1,200 active, 0 archived, 0 deleted');
    expect(sums.join(' ')).toMatch(/300,003\.00 EUR +0\.00 EUR/);
    const all = screenOf((await line.run('status', '--all')).stdout);
    expect(all.join(' ')).not.toContain('status --all');
    expect(Math.max(...all.map((text) => text.length))).toBeLessThanOrEqual(columns);
    const listed = all.map((text) => /^(?:account )?\s*(ac\d{3}) /.exec(text)?.[1]).filter(Boolean);
    expect(listed.slice(-300)[0]).toBe('ac217');
    expect(new Set(listed.slice(-300)).size).toBe(300);
  },
);

it.each([2, 11])('status of %i accounts names each command with the settings file that it was given', async (many) => {
  const some = ids.slice(0, many);
  const line = await testbed({
    level: 'command',
    settings: `accounts: [${some.join(', ')}]\nsandbox: { vendors: 30, seed: 1, churn: 0 }`,
  });
  await line.fill({
    _accounts: some.map((account_id, index) => ({
      account_id,
      added_at: '2026-11-20 09:00:00.000',
      paused_since: index === 1 ? '2026-11-20 10:00:00.000' : null,
    })),
    runs: some.map((account_id, index) =>
      run(index + 1, { account_id, outcome: 'failed', error: 'Run `vendor-mirror doctor`.', error_code: 'bug' }),
    ),
  });
  const { stdout } = await line.runBare('status', '--all', '-c', line.settings);
  const commands = [...stdout.matchAll(/`vendor-mirror [^`]*`/g)].map(([command]) => command);
  expect(commands.some((command) => command.includes('accounts resume'))).toBe(true);
  expect(commands.filter((command) => command.split(' -c ').length !== 2)).toEqual([]);
  const { stdout: json } = await line.runBare('status', '--json', '-c', line.settings);
  const inJson = [...json.matchAll(/`vendor-mirror [^`]*`/g)].map(([command]) => command);
  expect(inJson.length).toBeGreaterThan(3);
  expect(inJson.filter((command) => command.split(' -c ').length !== 2)).toEqual([]);
});
