/** What a delivery announces is read although a sweep uses up the rate. */
import { expect, it } from 'vitest';
import { account } from '../../support/names.ts';
import { testbed } from '../../support/testbed.ts';

it('K13 a delivery during a first sweep of 12,000 vendors at 15 a page is visible within 10 s', async () => {
  const at = await testbed({
    level: 'daemon',
    started: false,
    vendors: 12_000,
    deliveries: { delay: [0, 0] },
    settings: {
      service: {
        baseUrl: 'https://service.example',
        auth: { accessToken: 'a-token' },
        paging: { pageParam: 'page', perPageParam: 'per_page', perPage: 15, concurrency: 4 },
      },
    },
  });
  await at.start();
  const held = (): number => at.query<{ n: number }>('SELECT count(*) AS n FROM vendors')[0]?.n ?? 0;
  await at.clock.until('the sweep has used up its part of the rate', () => held() >= 7_500);
  const before = at.requests.length;
  await at.clock.pass(2_000);
  expect(at.requests.length - before).toBeLessThan(60);
  expect(at.runs).toEqual([]);

  const [{ vendorid } = { vendorid: 0 }] = at.query<{ vendorid: number }>('SELECT vendorid FROM vendors LIMIT 1');
  const edited = at.clock.monotonic();
  at.sandbox.vendors(account).edit(vendorid, { city: 'Delivered' });
  const isVisible = (): boolean =>
    at.query('SELECT 1 FROM vendors WHERE vendorid = ? AND city = ?', vendorid, 'Delivered').length > 0;
  await at.clock.until('the change is visible', isVisible);
  expect(at.clock.monotonic() - edited).toBeLessThanOrEqual(10_000);
  // The sweep still waits for its part of the next minute.
  expect(at.runs).toEqual([]);
});
