/** Processes that renew one access token, of which only one may at a time, and what becomes of them when it is killed. */
import { expect, it } from 'vitest';
import { watched } from '../../support/testbed/daemon-process.ts';
import { ended } from '../../support/testbed/program.ts';
import { tokenEndpoint } from '../../support/network/token-endpoint.ts';
import { testbed } from '../../support/testbed.ts';

/** Far less than what a lease lasts, in milliseconds. */
const soon = 20_000;

it(
  'K20 after a process was killed inside a token refresh, the next command goes on at once',
  { timeout: soon },
  async () => {
    const world = await testbed({ level: 'sandbox', vendors: 20 });
    const endpoint = await tokenEndpoint(world.token, { hanging: 1 });
    const at = await testbed({ level: 'program', service: world, auth: endpoint.auth });
    const killed = watched(at.start('sync'));
    await endpoint.asked(1);
    await killed.end('SIGKILL');
    const { status, stderr } = await at.run('sync');
    expect([status, stderr]).toEqual([0, expect.not.stringContaining('renews the access token')]);
  },
);

it(
  'K20 waiting for another process that renews the token is said, and ends with that process',
  { timeout: soon },
  async () => {
    const world = await testbed({ level: 'sandbox', vendors: 20 });
    const endpoint = await tokenEndpoint(world.token, { hanging: 1 });
    const at = await testbed({ level: 'program', service: world, auth: endpoint.auth });
    const hanging = watched(at.start('sync'));
    await endpoint.asked(1);
    const child = at.start('sync');
    const waiting = watched(child);
    const end = ended(child);
    await waiting.logged('another process renews the access token');
    await hanging.end('SIGKILL');
    expect((await end).status).toBe(0);
  },
);
