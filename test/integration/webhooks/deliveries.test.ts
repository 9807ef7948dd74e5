/** What may come to the listener of a running daemon, and what it may cost. */
import { expect, it } from 'vitest';
import { account } from '../../support/names.ts';
import { someVendor, type Delivery } from '../../support/testbed/daemon.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

/** Everything in the file that deliveries may move. */
function contents(at: Testbed<'daemon'>): unknown {
  return ['vendors', 'vendor_versions', 'deliveries', 'dirty_vendors', 'callbacks'].map((table) =>
    at.query(`SELECT * FROM ${table}`),
  );
}

async function counted(at: Testbed<'daemon'>, outcome: string): Promise<number> {
  // An examination serves a second's callers.
  await at.clock.pass(1_000);
  const { body } = await at.look('/metrics');
  return Number(
    new RegExp(`^vendor_mirror_deliveries_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(body)?.[1] ?? 0,
  );
}

/** A running daemon at rest, and an event that the service has told it. */
async function toldOnce(): Promise<{ at: Testbed<'daemon'>; delivery: Delivery }> {
  const at = await testbed({ level: 'daemon' });
  at.posted.length = 0;
  at.sandbox.vendors(account).edit(someVendor(at), { city: 'Oslo' });
  await at.clock.until('it was told', () => at.query('SELECT 1 FROM deliveries').length > 0);
  await at.clock.pass(60_000);
  await at.untilQuiet();
  at.requests.length = 0;
  return { at, delivery: at.posted[0]! };
}

it('H1 a running daemon refuses a forged delivery with 401, counts it, stores nothing and requests nothing', async () => {
  const { at, delivery } = await toldOnce();
  const before = contents(at);
  const forged = { ...delivery.headers, 'X-Service-Hmac-SHA256': Buffer.alloc(32, 7).toString('base64') };
  expect(await at.deliver({ ...delivery, headers: forged })).toBe(401);
  await at.clock.pass(60_000);
  expect(await counted(at, 'wrong_signature')).toBe(1);
  expect(contents(at)).toEqual(before);
  expect(at.requests).toEqual([]);
});

it('E7 C1 C3 a genuine delivery replayed ten thousand times costs a few reads and changes nothing', async () => {
  const { at, delivery } = await toldOnce();
  // When a vendor was read by id moves with each read.
  const [{ columns } = { columns: '' }] = at.query<{ columns: string }>(
    `SELECT group_concat(name) AS columns FROM pragma_table_info('vendors') WHERE name NOT IN ('read_seq', 'detail_seq', 'details_at')`,
  );
  const vendors = at.query(`SELECT ${columns} FROM vendors`);
  const answers: Record<number, number> = {};
  for (let round = 0; round < 100; round += 1) {
    const statuses = await Promise.all(Array.from({ length: 100 }, () => at.deliver(delivery)));
    for (const status of statuses) answers[status] = (answers[status] ?? 0) + 1;
    // Ten seconds of replays.
    await at.clock.pass(100);
  }
  await at.clock.pass(60_000);
  expect(answers).toEqual({ 200: 10_000 });
  expect(at.requests.filter((line) => line.includes('/bill_vendors/')).length).toBeLessThanOrEqual(6);
  expect(at.query(`SELECT ${columns} FROM vendors`)).toEqual(vendors);
  expect(at.query('SELECT outcome, count(*) AS n FROM deliveries GROUP BY 1')).toEqual([
    { outcome: 'applied', n: 1 },
    { outcome: 'unchanged', n: 10_000 },
  ]);
});
