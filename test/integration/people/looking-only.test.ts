/** What commands keep that only look: no secret that stands in the wrong place, and each grant that they renew. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { testbed } from '../../support/testbed.ts';

const ports = 'listener: { host: 127.0.0.1, port: 0 }\nadmin: { port: 0 }';

it('a token that stands in the place of its file is named by no message, no file and no log', async () => {
  const { baseUrl } = await testbed({ level: 'sandbox', vendors: 3 });
  const token = 'eyJhbGciOi.of-somebody';
  const settings = `accounts: [6BApk]\nservice: { baseUrl: "${baseUrl}", auth: { accessTokenFile: ${token} } }\n${ports}`;
  const line = await testbed({ level: 'command', settings });
  for (const command of [['sync'], ['status'], ['status', '--json'], ['doctor'], ['verify']]) {
    const { stdout, stderr } = await line.run(...command);
    expect(stdout + stderr, command.join(' ')).not.toContain(token);
  }
  expect((await line.run('doctor')).stdout).toContain('Put a new token into the file of service.auth.accessTokenFile');
  for (const name of readdirSync(line.folder).filter((name) => name !== 'mirror.yaml'))
    expect(readFileSync(join(line.folder, name)).includes(token), name).toBe(false);
});

it.each([['doctor'], ['verify'], ['callbacks', 'list']])(
  'a refresh token that %s spends before there is a mirror is not lost: its successor is kept',
  async (...command) => {
    const { baseUrl } = await testbed({ level: 'sandbox', vendors: 3, refreshToken: 'first' });
    const oauth = `{ tokenUrl: "${baseUrl}/auth/oauth/token", clientId: c, clientSecret: s, redirectUri: "https://mirror.example.com/oauth", refreshToken: first }`;
    const settings = `accounts: [6BApk]\nservice: { baseUrl: "${baseUrl}", auth: { oauth: ${oauth} } }\n${ports}`;
    const line = await testbed({ level: 'command', settings });
    await line.run(...command, '--account', '6BApk');
    expect(readdirSync(line.folder)).not.toContain('vendors.db');
    expect(await line.run('sync')).toMatchObject({ status: 0 });
  },
);
