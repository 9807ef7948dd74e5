/** What `status` says of several connections. */
import { expect, it } from 'vitest';
import { testbed } from '../../support/testbed.ts';

const accounts = `accounts: [6BApk, { id: other, connection: main }]
connections: { main: { auth: { accessTokenCommand: echo of-nobody } } }`;

it('K18 status names the connection that gives no access, for how many accounts and why; the others continue', async () => {
  const line = await testbed({ level: 'command', service: { account: ['6BApk', 'other'] }, settings: accounts });
  const before = await line.run('status');
  expect(before.stdout).not.toContain('given no access');
  const synced = await line.run('sync');
  expect([synced.status, synced.stderr]).toEqual([77, expect.stringContaining('Connection main: ')]);

  const { stdout } = await line.run('status');
  expect(stdout).toMatch(
    /The connection main has given no access to its account for [\d.]+ s: .*Run the command of connections\.main\.auth\.accessTokenCommand by hand/s,
  );
  expect(stdout).toMatch(
    /Connections\n.*default +1 account; no request was refused\n.*main +1 account; no access for [\d.]+ s: /s,
  );
  const { connections } = JSON.parse((await line.run('status', '--json')).stdout) as { connections: unknown };
  expect(connections).toMatchObject([
    { connection: 'default', accounts: 1, failing: null },
    { connection: 'main', accounts: 1, failing: { code: 'unauthenticated' } },
  ]);

  const unknown = await line.run('login', 'mian');
  expect([unknown.status, unknown.stderr]).toEqual([64, expect.stringContaining('no connection mian')]);
  const token = await line.run('logout', 'main');
  expect([token.status, token.stderr]).toEqual([78, expect.stringContaining('connections.main.auth.oauth is not set')]);
});
