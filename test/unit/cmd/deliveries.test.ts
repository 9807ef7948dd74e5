import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Row } from '../../support/mirror-file.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

function delivery(id: number, told: Row = {}): Row {
  return {
    id,
    account_id: '6BApk',
    received_at: `2026-11-20 11:0${id}:00.000`,
    name: 'bill_vendor.update',
    object_id: 11,
    outcome: 'applied',
    settled_at: `2026-11-20 11:0${id}:01.000`,
    ...told,
  };
}

const parked = { outcome: 'parked', settled_at: null };
const mark = (account_id: string, vendorid: number): Row => ({
  account_id,
  vendorid,
  generation: 1,
  marked_at: '2026-11-20 11:02:00.000',
  due_at: null,
  attempts: 12,
  reason: 'retry',
  last_error: 'The service failed.',
});

let line: Testbed<'command'>;

beforeEach(async () => {
  line = await testbed({ level: 'command' });
  await line.fill({
    _accounts: ['6BApk', 'other'].map((account_id) => ({ account_id, added_at: '2026-11-20 09:00:00.000' })),
    deliveries: [
      delivery(1),
      delivery(2, { object_id: 12, ...parked }),
      delivery(3, { name: 'invoice.create', outcome: 'ignored' }),
      delivery(4, { account_id: 'other', object_id: 13, ...parked }),
      delivery(5, { name: '\u001b[2J', object_id: null, outcome: 'ignored' }),
    ],
    dirty_vendors: [mark('6BApk', 12), mark('other', 13)],
  });
});

describe('deliveries list', () => {
  it('shows the newest first, and text from outside cannot control the terminal (H10)', async () => {
    const { status, stdout, stderr } = await line.run('deliveries', 'list');
    expect(status).toBe(0);
    expect(stdout).toMatchInlineSnapshot(`
      "id  account  received    event               object  outcome  settled
       5  6BApk    55 min ago  ␛[2J                     –  ignored  54 min ago
       4  other    56 min ago  bill_vendor.update      13  parked   –
       3  6BApk    57 min ago  invoice.create          11  ignored  56 min ago
       2  6BApk    58 min ago  bill_vendor.update      12  parked   –
       1  6BApk    59 min ago  bill_vendor.update      11  applied  58 min ago
      "
    `);
    expect(stderr).toBe('5 deliveries.\n');
  });

  it.each([
    [
      ['--outcome', 'parked'],
      [4, 2],
    ],
    [['--vendor', '11'], [1]],
    [['--account', 'other'], [4]],
    [
      ['--since', '2026-11-20 11:04:00'],
      [5, 4],
    ],
    [
      ['--since', '57m'],
      [5, 4, 3],
    ],
    [['--limit', '1'], [5]],
  ])('%j finds %j', async (filter, ids) => {
    const { stdout } = await line.run('deliveries', 'list', '--json', ...filter);
    const { ok, deliveries } = JSON.parse(stdout) as { ok: boolean; deliveries: { id: number }[] };
    expect([ok, deliveries.map(({ id }) => id)]).toEqual([true, ids]);
  });

  it.each(['30000d', '3000000d', '99999999999999d', `${'9'.repeat(309)}h`, '0000-01-01', '9999-12-31'])(
    'L63 takes a moment beyond all deliveries, and one beyond all dates: %s',
    async (since) => {
      const { status, stdout } = await line.run('deliveries', 'list', '--json', '--since', since);
      const { deliveries } = JSON.parse(stdout) as { deliveries: unknown[] };
      expect([status, deliveries.length]).toEqual([0, since.startsWith('9999-') ? 0 : 5]);
    },
  );

  it('says how many a limit leaves out', async () => {
    expect((await line.run('deliveries', 'list', '--limit', '2')).stderr).toBe(
      '2 of 5 deliveries; more with --limit.\n',
    );
  });

  it.each(['yesterday', '5', '2026-13-45', ''])('exits with 64 for --since "%s"', async (since) => {
    expect((await line.run('deliveries', 'list', '--since', since)).status).toBe(64);
  });
});

describe('deliveries retry', () => {
  const due = (): unknown => {
    const mirror = new Driver(line.database, { readonly: true });
    const rows = mirror.prepare('select vendorid from dirty_vendors where due_at is not null order by 1').pluck().all();
    mirror.close();
    return rows;
  };

  it('marks parked vendors of all accounts again', async () => {
    const { status, stdout } = await line.run('deliveries', 'retry');
    expect(status).toBe(0);
    expect(stdout).toBe(
      '2 vendors are marked to be read again: by the running daemon, or by the next `vendor-mirror reconcile`.\n',
    );
    expect(due()).toEqual([12, 13]);
    expect((await line.run('deliveries', 'list', '--outcome', 'pending', '--json')).stdout).toContain('"total":2');
    expect((await line.run('deliveries', 'retry')).stdout).toBe('Nothing is parked.\n');
  });

  it.each([
    [['--vendor', '12'], [12]],
    [['--account', 'other'], [13]],
    [['--vendor', '99'], []],
  ])('%j marks %j', async (which, vendorids) => {
    const { stdout } = await line.run('deliveries', 'retry', '--json', ...which);
    expect(JSON.parse(stdout)).toEqual({ ok: true, marked: vendorids.length, sandbox: true });
    expect(due()).toEqual(vendorids);
  });

  it('creates no mirror if there is none', async () => {
    const nowhere = await testbed({ level: 'command' });
    const { status, stderr } = await nowhere.run('deliveries', 'retry');
    expect([status, stderr]).toEqual([0, 'Nothing is mirrored yet. Run `vendor-mirror sync`.\n']);
    expect((await nowhere.run('deliveries', 'retry')).stderr).toContain('Nothing is mirrored yet.');
  });
});
