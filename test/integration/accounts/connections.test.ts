/** Several grants in one daemon, one of which ends. */
import { expect, it } from 'vitest';
import { testbed } from '../../support/testbed.ts';

interface Status {
  readonly connections: readonly {
    readonly connection: string;
    readonly accounts: number;
    readonly failing: unknown;
  }[];
  readonly accounts: readonly { readonly account: string; readonly ready: boolean }[];
}

const [errorLevel, interval] = [50, 15 * 60_000];

it('K18 a connection whose token is refused is reported with the cause within one interval, and the accounts of others stay fresh', async () => {
  const at = await testbed({
    level: 'daemon',
    started: false,
    accounts: ['own', 'one', 'two'],
    settings: {
      accounts: ['own', { id: 'one', connection: 'main' }, { id: 'two', connection: 'main' }],
      connections: { main: { auth: { accessToken: 'of-main' } } },
      listener: { host: '127.0.0.1', port: 0, publicUrl: null },
    },
  });
  const status = async (): Promise<Status> => JSON.parse((await at.look('/api/status')).body) as Status;
  at.sandbox.access.grant('of-main');
  await at.start();
  await at.clock.pass(interval);
  expect(await status()).toMatchObject({
    connections: [
      { connection: 'default', accounts: 1, failing: null },
      { connection: 'main', accounts: 2, failing: null },
    ],
    accounts: [{ ready: true }, { ready: true }, { ready: true }],
  });
  expect(at.query('SELECT account_id, connection FROM _accounts ORDER BY 1')).toEqual([
    { account_id: 'one', connection: 'main' },
    { account_id: 'own', connection: 'default' },
    { account_id: 'two', connection: 'main' },
  ]);

  at.sandbox.access.revoke('of-main');
  await at.clock.pass(2 * interval);
  const told = await status();
  expect(told.connections).toMatchObject([
    { failing: null },
    {
      failing: {
        code: 'unauthenticated',
        what_to_do: 'Set a new token as connections.main.auth.accessToken.',
      },
    },
  ]);
  expect(told.accounts.map(({ account, ready }) => [account, ready])).toEqual([
    ['own', true],
    ['one', false],
    ['two', false],
  ]);
  expect((await at.look('/metrics')).body).toMatch(
    /vendor_mirror_connection_failing_seconds\{connection="main",code="unauthenticated"\} [1-9]/,
  );
  const errors = at.log.filter(({ level }) => level === errorLevel).map(({ msg }) => msg);
  expect(errors).toEqual([expect.stringContaining('the connection main gives no access to its 2 accounts: ')]);

  at.sandbox.access.grant('of-main');
  await at.clock.pass(2 * interval);
  expect((await status()).connections).toMatchObject([{ failing: null }, { failing: null }]);
  expect((await at.look('/metrics')).body).not.toContain('vendor_mirror_connection_failing_seconds{');
  expect(at.log.map(({ msg }) => msg)).toContain('the connection main gives access again');
});
