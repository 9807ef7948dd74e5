/** A stop, seen from outside: what would hold the process up would do so for longer than any test may take, so that its end is the proof. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { until } from '../../support/testbed/daemon-process.ts';
import { tokenEndpoint } from '../../support/network/token-endpoint.ts';
import { program } from '../../support/testbed/build.ts';
import { testbed } from '../../support/testbed.ts';

const settings = 'shutdownTimeout: 4s';

it('K2 a stop while the rate limit makes requests wait for an hour ends the process at once and cleanly', async () => {
  const world = await testbed({ level: 'sandbox', vendors: 100 });
  const at = await testbed({ level: 'program', service: world, listens: true, settings, rate: '8/1h' });
  const daemon = await at.serve();
  await until(() => at.query('SELECT 1 FROM vendors').length >= 30);
  expect([await daemon.end('SIGTERM'), daemon.stderr()]).toEqual([0, expect.stringContaining('"msg":"stopped"')]);
});

it.each(['SIGTERM', 'SIGINT'] as const)('L35 %s ends a daemon whose log nobody reads any more', async (signal) => {
  const world = await testbed({ level: 'sandbox', vendors: 1_500 });
  const schedule = 'schedule: { reconcile: "* * * * * *" }';
  const at = await testbed({ level: 'program', service: world, listens: true, settings: `${settings}\n${schedule}` });
  expect((await at.run('sync')).status).toBe(0);
  const pipe = join(at.folder, 'log');
  execFileSync('mkfifo', [pipe]);
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  onTestFinished(() => closeSync(reader));
  const child = at.execute('sh', '-c', `exec '${process.execPath}' '${program}' serve --log-level trace 2> '${pipe}'`);
  // Each run logs a hundred requests: more than twice what a pipe holds.
  await until(() => at.query(`SELECT 1 FROM runs WHERE outcome = 'complete'`).length >= 6);
  child.kill(signal);
  await once(child, 'exit');
  expect([child.exitCode, child.signalCode]).toEqual([0, null]);
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
