import { describe, expect, it, vi } from 'vitest';
import { vendor, type Row } from '../../support/mirror-file.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const many = (count: number, of: (n: number) => Row = () => ({})): Row[] =>
  Array.from({ length: count }, (_, n) => vendor(n + 1, of(n)));

async function lineWith(vendors: Row[], columns?: number): Promise<Testbed<'command'>> {
  const line = await testbed({ level: 'command', env: { NO_COLOR: '1' }, ...(columns !== undefined && { columns }) });
  await line.fill({ vendors });
  return line;
}

function idsIn(stdout: string): number[] {
  return [...stdout.matchAll(/^ *(\d+) /gm)].map(([, id]) => Number(id));
}

describe('vendors list on a terminal', () => {
  it('shows the first hundred and the number of all, and all with --all', async () => {
    const line = await lineWith(many(1_203), 80);
    const first = await line.run('vendors', 'list');
    expect(idsIn(first.stdout)).toEqual(Array.from({ length: 100 }, (_, n) => n + 1));
    expect(first.stderr).toBe('100 of 1,203 vendors; --all lists them all.\n');
    const all = await line.run('vendors', 'list', '--all');
    expect(idsIn(all.stdout)).toHaveLength(1_203);
    expect(all.stderr).toBe('1,203 vendors.\n');
  });

  it.each(['outstanding', 'overdue'])('L85 says that an %s balance could not be read', async (kind) => {
    const fields = ['phone', `${kind}_balance`];
    const line = await lineWith([vendor(1, { unreadable_fields: JSON.stringify(fields) })], 120);
    expect((await line.run('vendors', 'list')).stdout.match(/unreadable/g)).toHaveLength(1);
    expect(JSON.parse((await line.run('vendors', 'list', '--json')).stdout)).toMatchObject({
      vendors: [{ unreadable_fields: fields }],
    });
  });

  it('shows all of a hundred, and none twice', async () => {
    const line = await lineWith(many(100), 80);
    expect(await line.run('vendors', 'list')).toMatchObject({ stderr: '100 vendors.\n' });
  });

  it.each([
    [40, 'vendorid name'],
    [60, 'vendorid name outstanding overdue'],
    [200, 'vendorid name country outstanding overdue changed'],
  ])('leaves out columns at a width of %i, and no part of a word', async (columns, titles) => {
    const name = 'Gesellschaft für Bürobedarf';
    const line = await lineWith(
      many(3, () => ({ vendor_name: name, country: 'Deutschland, Österreich und die Schweiz' })),
      columns,
    );
    const { stdout } = await line.run('vendors', 'list');
    expect(stdout.split('\n')[0]?.replaceAll(/ +/g, ' ')).toBe(titles);
    expect(stdout.split(name)).toHaveLength(4);
    for (const shown of stdout.split('\n')) expect(shown.length).toBeLessThanOrEqual(columns);
  });

  it('refuses --all beside --limit', async () => {
    const { status, stderr } = await (await lineWith([])).run('vendors', 'list', '--all', '--limit', '5');
    expect([status, stderr]).toEqual([64, expect.stringContaining("'--all' cannot be used with option '--limit")]);
  });
});

describe('vendors list elsewhere', () => {
  it('lists all, each once, in batches of several accounts', async () => {
    const line = await lineWith([...many(5_400), ...many(5_200, () => ({ account_id: 'other' }))]);
    const { stdout, stderr } = await line.run('vendors', 'list');
    const rows = stdout.trimEnd().split('\n').slice(1);
    const keys = rows.map((row) => row.split(/ +/).slice(0, 2).join(' '));
    expect(new Set(keys).size).toBe(10_600);
    expect([keys[0], keys.at(-1)]).toEqual(['6BApk 1', 'other 5200']);
    expect(stderr).toBe('10,600 vendors.\n');
  });

  it('L75 stops between batches when it is interrupted, and exits with 1', async () => {
    const clock = virtualClock();
    let batches = 0;
    const pausing = vi.spyOn(clock, 'yield').mockImplementation(() => {
      batches += 1;
      if (batches === 1) line.interruption.abort(new Error('Ctrl-C'));
      return Promise.resolve();
    });
    const line = await testbed({ level: 'command', clock });
    await line.fill({ vendors: many(12_000) });
    pausing.mockClear();
    batches = 0;
    const { status, stdout } = await line.run('vendors', 'list');
    expect([status, batches]).toEqual([1, 1]);
    expect(idsIn(stdout).length).toBeGreaterThan(100);
    expect(idsIn(stdout).length).toBeLessThan(12_000);
  });
});
