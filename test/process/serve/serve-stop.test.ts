/** A stop, seen from outside: what would hold the process up would do so for longer than any test may take, so that its end is the proof. */
import { expect, it } from 'vitest';
import { until } from '../../support/testbed/daemon-process.ts';
import { tokenEndpoint } from '../../support/network/token-endpoint.ts';
import { testbed } from '../../support/testbed.ts';

const settings = 'shutdownTimeout: 4s';

it('K2 a stop while the rate limit makes requests wait for an hour ends the process at once and cleanly', async () => {
  const world = await testbed({ level: 'sandbox', vendors: 100 });
  const at = await testbed({ level: 'program', service: world, listens: true, settings, rate: '3/1h' });
  const daemon = await at.serve();
  await until(() => at.query('SELECT 1 FROM vendors').length >= 30);
  expect([await daemon.end('SIGTERM'), daemon.stderr()]).toEqual([0, expect.stringContaining('"msg":"stopped"')]);
});

it('K2 K20 a stop while the token endpoint hangs ends the process within shutdownTimeout, and says why', async () => {
  const world = await testbed({ level: 'sandbox', vendors: 20 });
  const endpoint = await tokenEndpoint(world.token, { hanging: 1 });
  const daemon = await (
    await testbed({ level: 'program', service: world, listens: true, settings, auth: endpoint.auth })
  ).serve();
  await endpoint.asked(1);
  expect([await daemon.end('SIGTERM'), daemon.stderr()]).toEqual([
    1,
    expect.stringContaining('Stopping took longer than shutdownTimeout'),
  ]);
});
