/** Two accounts in one daemon, whose vendors bear the same numbers; and when the daemon looks at each. */
import { expect, it } from 'vitest';
import { account, otherAccount } from '../../support/names.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

function nameOf(at: Testbed<'daemon'>, accountId: string, vendorid: number): unknown {
  const sql = 'SELECT vendor_name FROM vendors WHERE account_id = ? AND vendorid = ?';
  return at.query<{ vendor_name: string }>(sql, accountId, vendorid)[0]?.vendor_name;
}

it('K28 a delivery causes a read of the vendor of its own account, not of the vendor with that number in another', async () => {
  const at = await testbed({ level: 'daemon', accounts: [account, otherAccount] });
  await at.clock.until('both were swept', () => new Set(at.runs.map(({ run }) => run.accountId)).size === 2);
  await at.untilQuiet();
  await at.clock.pass(at.settings.sync.lag);
  const [both] = at.query<{ vendorid: number }>(
    'SELECT vendorid FROM active_vendors GROUP BY 1 HAVING count(*) = 2 ORDER BY 1 LIMIT 1',
  );
  const id = both!.vendorid;
  const before = nameOf(at, account, id);
  at.requests.length = 0;
  at.sandbox.vendors(otherAccount).edit(id, { vendor_name: 'Of the other' });
  await at.clock.until('it arrived', () => nameOf(at, otherAccount, id) === 'Of the other');
  await at.untilQuiet();
  expect(nameOf(at, account, id)).toBe(before);
  const read = at.requests.filter((line) => line.endsWith(`/${id}`));
  expect([...new Set(read)]).toEqual([`GET /accounting/account/${otherAccount}/bill_vendors/bill_vendors/${id}`]);
  expect(at.query('SELECT DISTINCT account_id, outcome FROM deliveries')).toEqual([
    { account_id: otherAccount, outcome: 'applied' },
  ]);
});

it('K28 an account without a complete sweep is swept at once after a restart, although another one has just been swept', async () => {
  let isOut = true;
  const at = await testbed({
    level: 'daemon',
    started: false,
    accounts: [account, otherAccount],
    answer: ({ pathname }) =>
      isOut && pathname.includes(otherAccount) && pathname.includes('bill_vendors')
        ? new Response('{}', { status: 403 })
        : undefined,
  });
  await at.start();
  const ended = (accountId: string, outcome: string): boolean =>
    at.runs.some(({ run, outcome: how }) => run.accountId === accountId && how === outcome);
  await at.clock.until('one is whole', () => ended(account, 'complete'));
  await at.clock.until('the other failed', () => ended(otherAccount, 'failed'));
  await at.untilQuiet();
  await at.reopen();
  isOut = false;
  at.runs.length = 0;
  const restarted = at.clock.now();
  await at.start();
  await at.clock.until('the other is whole', () => ended(otherAccount, 'complete'));
  expect(at.clock.now() - restarted).toBeLessThan(60_000);
});

it.each(['without webhooks', 'with a callback to verify'])(
  'the first start %s, when a pull and a reconciliation are due, walks the list once',
  async (which) => {
    const at = await testbed({
      level: 'daemon',
      started: false,
      ...(which === 'without webhooks' && { settings: { listener: { publicUrl: null } } }),
    });
    await at.start();
    await at.untilQuiet();
    await at.clock.pass(60_000);
    expect(at.query('SELECT kind, outcome FROM runs')).toEqual([{ kind: 'reconcile', outcome: 'complete' }]);
  },
);

it('schedules run by the time zone of the settings', async () => {
  const at = await testbed({
    level: 'daemon',
    settings: { schedule: { pull: '0 3 * * *', timezone: 'Pacific/Auckland' } },
  });
  const { next } = JSON.parse((await at.look('/api/status')).body) as { next: { pull: string } };
  // 03:00 in Auckland, in summer; a few seconds later, so that installations do not all call at once.
  expect(next.pull).toMatch(/ 14:00:/);
});
