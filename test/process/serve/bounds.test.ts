/** Memory and descriptors, by limits that a leak would soon break. */
import type { ChildProcess } from 'node:child_process';
import { expect, it } from 'vitest';
import { until } from '../../support/testbed/daemon-process.ts';
import { program } from '../../support/testbed/build.ts';
import { ended } from '../../support/testbed/program.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

/** Megabytes of heap, and descriptors: the loader of modules alone opens some two hundred at once. */
const [heap, files] = [40, 320];

/** Starts the program under these limits. */
function confined(at: Testbed<'program'>, ...argv: string[]): ChildProcess {
  const limited = [process.execPath, `--max-old-space-size=${heap}`, program, ...argv];
  return at.execute('sh', '-c', `ulimit -n ${files} && exec "$@"`, 'sh', ...limited);
}

it('J4 J5 a sync of ten thousand vendors over seven hundred pages needs no more memory than one page', async () => {
  const sandbox = await testbed({ level: 'sandbox', vendors: 10_000 });
  const at = await testbed({ level: 'program', service: sandbox });
  const { status, stderr } = await ended(confined(at, 'sync'));
  expect([status, stderr]).toEqual([0, expect.not.stringMatching(/heap|EMFILE/)]);
  expect(at.query('SELECT count(*) AS held FROM vendors')).toEqual([{ held: 10_000 }]);
});

it('J4 J5 a daemon keeps no memory of a thousand callers and hundreds of deliveries', async () => {
  const sandbox = await testbed({ level: 'sandbox', vendors: 50 });
  const at = await testbed({ level: 'program', service: sandbox, listens: true });
  const child = confined(at, 'serve');
  const over = ended(child);
  const callbacks = sandbox.sandbox.callbacks(sandbox.account);
  await Promise.race([over, until(() => callbacks.all().some(({ verified }) => verified))]);

  const address = `http://127.0.0.1:${at.listenerPort}`;
  const stranger = { method: 'POST', body: 'name=x'.repeat(2_000), headers: { connection: 'close' } };
  for (let nth = 0; nth < 100; nth++)
    await Promise.all(
      Array.from({ length: 10 }, async () => (await fetch(`${address}/webhooks/6BApk/guess`, stranger)).arrayBuffer()),
    );
  const vendorService = sandbox.sandbox.vendors(sandbox.account);
  for (let nth = 0; nth < 10; nth++)
    for (const { vendorid } of vendorService.all()) vendorService.edit(Number(vendorid), { city: `City ${nth}` });
  const acknowledged = () =>
    sandbox.sandbox.deliveries().filter(({ kind, status }) => kind === 'event' && status === 200);
  await Promise.race([over, until(() => acknowledged().length >= 500)]);

  expect((await fetch(`${address}/healthz`)).status).toBe(200);
  child.kill('SIGTERM');
  const { status, stderr } = await over;
  expect([status, stderr]).toEqual([0, expect.not.stringMatching(/heap|EMFILE/)]);
});

it('J4 collects garbage when the heap may have doubled, however slow the machine was', async () => {
  const at = await testbed({ level: 'program', service: { vendors: 1_000 } });
  const { stdout } = await ended(at.execute(process.execPath, '--trace-gc-verbose', program, 'sync'));
  const limits = Array.from(stdout.matchAll(/new limit: \d+ KB \((\d\.\d)\)/g), ([, timesAlive]) => timesAlive);
  expect(new Set(limits)).toEqual(new Set(['2.0']));
});
