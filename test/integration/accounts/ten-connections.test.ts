/** Many accounts over ten connections, of which one account hangs, one is refused, one is large and one connection loses its token. */
import { expect, it } from 'vitest';
import { parseInstant } from '../../../src/domain/clock.ts';
import { unanswered } from '../../support/network/unanswered.ts';
import { testbed } from '../../support/testbed.ts';

interface AccountStatus {
  readonly account: string;
  readonly ready: boolean;
  readonly last_error: { readonly code: string } | null;
  readonly request_failures: { readonly code: string } | null;
}

interface Status {
  readonly accounts: readonly AccountStatus[];
  readonly connections: readonly { readonly connection: string; readonly failing: { readonly code: string } | null }[];
}

const minute = 60_000;
const count = Number(process.env['VENDOR_MIRROR_ACCOUNTS'] ?? 20);
const large = Number(process.env['VENDOR_MIRROR_LARGE'] ?? 300);

const accounts = Array.from({ length: count }, (_, index) => ({ id: `acct${index}`, connection: `c${index % 10}` }));
const ids = accounts.map(({ id }) => id);
const [hung, refused, big] = ['acct1', 'acct2', 'acct4'];
const ofDeadToken = accounts.filter(({ connection }) => connection === 'c3').map(({ id }) => id);
const others = ids.filter((id) => ![hung, refused, big, ...ofDeadToken].includes(id));

it(
  `K17 K18 ${count} accounts over ten connections: the problems of four of them are reported within one interval, and the others keep their schedule`,
  async () => {
    const at = await testbed({
      level: 'daemon',
      started: false,
      accounts: ids,
      vendors: 3,
      rateLimits: null,
      answer: ({ pathname }, init) => (pathname.includes(`/${hung}/`) ? unanswered(init) : undefined),
      settings: {
        accounts,
        connections: Object.fromEntries(
          accounts.map(({ connection }) => [connection, { auth: { accessToken: `token-${connection}` } }]),
        ),
        service: { auth: null },
        listener: { host: '127.0.0.1', port: 0, publicUrl: null },
        schedule: { reconcile: '*/5 * * * *', pull: '0 3 * * *', timezone: 'UTC' },
      },
    });
    for (const { connection } of accounts) {
      const own = accounts.filter((account) => account.connection === connection && account.id !== refused);
      at.sandbox.access.grant(
        `token-${connection}`,
        undefined,
        own.map(({ id }) => id),
      );
    }
    for (let number = 0; number < large; number += 1)
      at.sandbox.vendors(big).create({ vendor_name: `Vendor ${number}`, language: 'en' });

    const began = at.clock.now();
    await at.start();
    await at.clock.pass(11 * minute);
    at.sandbox.access.revoke('token-c3');
    await at.clock.pass(5 * minute + minute);
    const status = JSON.parse((await at.look('/api/status')).body) as Status;
    const told = new Map(status.accounts.map((account) => [account.account, account]));
    expect(told.get(hung)).toMatchObject({ ready: false, request_failures: { code: 'service_timeout' } });
    expect(told.get(refused)).toMatchObject({ ready: false, last_error: { code: 'access_denied' } });
    for (const id of ofDeadToken) expect(told.get(id)).toMatchObject({ last_error: { code: 'unauthenticated' } });
    expect(status.connections.filter(({ failing }) => failing !== null)).toMatchObject([
      { connection: 'c3', failing: { code: 'unauthenticated' } },
    ]);
    const metrics = (await at.look('/metrics')).body;
    expect(metrics).toContain(`vendor_mirror_last_run_failed{account="${refused}",code="access_denied"} 1`);
    expect(metrics).toContain(`vendor_mirror_requests_failing_seconds{account="${hung}",code="service_timeout"}`);
    expect(metrics).toContain('vendor_mirror_connection_failing_seconds{connection="c3",code="unauthenticated"}');
    const log = at.log.map(({ msg }) => msg).join('\n');
    expect(log).toContain('the connection c3 gives no access');

    for (const id of others) expect(told.get(id), id).toMatchObject({ ready: true, last_error: null });
    const runs = at.query<{ account_id: string; started_at: string }>(
      `SELECT account_id, started_at FROM runs WHERE outcome = 'complete' ORDER BY id`,
    );
    for (const id of others) {
      const moments = runs
        .filter(({ account_id }) => account_id === id)
        .map(({ started_at }) => parseInstant(started_at)!);
      const gaps = [...moments, at.clock.now()].map((moment, index) => moment - (moments[index - 1] ?? began));
      expect(Math.max(...gaps), id).toBeLessThanOrEqual(1.5 * 5 * minute);
    }
    const held = at.query<{ vendors: number }>(`SELECT count(*) AS vendors FROM vendors WHERE account_id = ?`, big);
    expect(held).toEqual([{ vendors: large + 3 }]);
  },
  process.env['VENDOR_MIRROR_ACCOUNTS'] === undefined ? 60_000 : 1_800_000,
);
