/** Processes that renew one access token, of which only one may at a time, and what becomes of them when it is killed. */
import { once } from 'node:events';
import { setTimeout as later } from 'node:timers/promises';
import { expect, inject, it } from 'vitest';
import { seededRandom, seedOf } from '../../../src/sandbox/core/random.ts';
import { asked } from '../../support/test-size.ts';
import { watched } from '../../support/testbed/daemon-process.ts';
import { ended } from '../../support/testbed/program.ts';
import { tokenEndpoint } from '../../support/network/token-endpoint.ts';
import { testbed } from '../../support/testbed.ts';

const kills = asked('REFRESH_KILLS', 3);
/** Told where a test fails; SEED repeats it. */
const seed = asked('SEED', 1);

/** Far less than what a lease lasts, in milliseconds; on a server, where it lasts less, that is no matter. */
const soon = inject('postgres') === undefined ? 20_000 : 60_000;

/** The program, and a service whose first token request is never answered. */
async function withHangingRefresh() {
  const world = await testbed({ level: 'sandbox', vendors: 20 });
  const endpoint = await tokenEndpoint(world.token, { hanging: 1 });
  return { endpoint, at: await testbed({ level: 'program', service: world, auth: endpoint.auth }) };
}

it(
  'K20 after a process was killed inside a token refresh, the next command goes on at once',
  { timeout: soon },
  async () => {
    const { endpoint, at } = await withHangingRefresh();
    const killed = watched(at.start('sync'));
    await endpoint.asked(1);
    await killed.end('SIGKILL');
    at.buryAll();
    const { status, stderr } = await at.run('sync');
    expect([status, stderr]).toEqual([0, expect.not.stringContaining('renews the access token')]);
  },
);

it(
  'K20 waiting for another process that renews the token is reported, and ends with that process',
  { timeout: soon },
  async () => {
    const { endpoint, at } = await withHangingRefresh();
    const hanging = watched(at.start('sync'));
    await endpoint.asked(1);
    const child = at.start('sync');
    const waiting = watched(child);
    const end = ended(child);
    await waiting.logged('another process renews the access token');
    await hanging.end('SIGKILL');
    at.buryAll();
    expect((await end).status).toBe(0);
  },
);

it.each(['sync', 'verify'])(
  'K20 L75 before there is a mirror, %s waits while another command that only looks renews the token, and takes over when that dies',
  { timeout: soon },
  async (command) => {
    const { endpoint, at } = await withHangingRefresh();
    const looking = watched(at.start('verify'));
    await endpoint.asked(1);
    const child = at.start(command);
    const waiting = watched(child);
    const end = ended(child);
    await waiting.logged('another process renews the access token');
    await looking.end('SIGKILL');
    at.buryAll();
    expect((await end).stderr).not.toContain('gives no access');
    await endpoint.asked(2);
  },
);

/** A sandbox whose token has ended, and where one refresh token is good for one renewal. */
async function withEndedToken() {
  const world = await testbed({ level: 'sandbox', vendors: 5, refreshToken: 'first' });
  const redirectUri = 'https://mirror.example.com/oauth';
  const auth = `{ oauth: { tokenUrl: "${world.baseUrl}/auth/oauth/token", clientId: c, clientSecret: s, redirectUri: "${redirectUri}", refreshToken: first } }`;
  return { world, at: await testbed({ level: 'program', service: world, auth }) };
}

it(
  `K20 L75 after kill -9 at any moment of a refresh, ${kills} times by seed, the next command goes on at once or names login`,
  { timeout: 60_000 + kills * soon },
  async () => {
    const ends = { wentOn: 0, namedLogin: 0 };
    for (let nth = 0; nth < kills; nth += 1) {
      const { world, at } = await withEndedToken();
      const random = seededRandom(seedOf(seed, 'refresh', nth));
      const child = at.start('sync');
      const exited = once(child, 'exit');
      // The first is killed before its refresh is answered, the second when it uses the new token; the others at any moment between.
      const isHeard = (path: string): boolean =>
        nth === 1 ? path.startsWith('/accounting/') : path === '/auth/oauth/token';
      await new Promise<void>((resolve) => {
        let renewed = false;
        world.sandbox.onRequest(({ path }) => {
          renewed ||= path === '/auth/oauth/token';
          if (!renewed || !isHeard(path)) return;
          if (nth < 2) child.kill('SIGKILL');
          resolve();
        });
      });
      if (nth > 1) await later(random.below(40));
      child.kill('SIGKILL');
      await exited;
      at.buryAll();
      const { status, stderr } = await at.run('sync');
      if (status === 0) ends.wentOn += 1;
      else {
        expect([nth, status, stderr]).toEqual([nth, 77, expect.stringContaining('`vendor-mirror login')]);
        ends.namedLogin += 1;
      }
      expect(stderr).not.toContain('another process renews');
      await world.stop();
    }
    expect(Math.min(ends.wentOn, ends.namedLogin)).toBeGreaterThan(0);
  },
);

it(
  'K20 two processes that find the token expired at once send one refresh, and both continue',
  { timeout: soon },
  async () => {
    const { world, at } = await withEndedToken();
    let renewals = 0;
    world.sandbox.onRequest(({ path }) => void (renewals += Number(path === '/auth/oauth/token')));
    const both = await Promise.all([at.run('sync'), at.run('sync')]);
    expect(both.map(({ status }) => status)).toEqual([0, 0]);
    expect(renewals).toBe(1);
  },
);
