/** How long a stop takes, measured at the process: from the signal until the system says that the process has ended. */
import { expect, it } from 'vitest';
import { until, type DaemonProcess } from '../support/testbed/daemon-process.ts';

import { tokenEndpoint } from '../support/network/token-endpoint.ts';
import { testbed } from '../support/testbed.ts';

const shutdownTimeout = 4_000;
const settings = `shutdownTimeout: ${shutdownTimeout}ms`;

/** The exit status, and how many milliseconds passed until the process had ended. */
async function stopped(daemon: Pick<DaemonProcess, 'end'>): Promise<{ status: number | null; ms: number }> {
  const asked = performance.now();
  const status = await daemon.end('SIGTERM');
  return { status, ms: performance.now() - asked };
}

it('K2 a stop while the rate limit makes requests wait ends the process within shutdownTimeout', async () => {
  const world = await testbed({ level: 'sandbox', vendors: 100 });
  const at = await testbed({ level: 'program', service: world, listens: true, settings, rate: '3/60s' });
  const daemon = await at.serve();
  await until(() => at.query('SELECT 1 FROM vendors').length >= 30);
  const { status, ms } = await stopped(daemon);
  expect([status, daemon.stderr()]).toEqual([0, expect.stringContaining('"msg":"stopped"')]);
  expect(ms).toBeLessThan(shutdownTimeout);
});

it('K2 K20 a stop while the token endpoint hangs ends the process within shutdownTimeout, and says why', async () => {
  const world = await testbed({ level: 'sandbox', vendors: 20 });
  const endpoint = await tokenEndpoint(world.token, { hanging: 1 });
  const daemon = await (
    await testbed({ level: 'program', service: world, listens: true, settings, auth: endpoint.auth })
  ).serve();
  await endpoint.asked(1);
  const { status, ms } = await stopped(daemon);
  expect([status, daemon.stderr()]).toEqual([1, expect.stringContaining('Stopping took longer than shutdownTimeout')]);
  expect(ms).toBeLessThan(shutdownTimeout);
});
