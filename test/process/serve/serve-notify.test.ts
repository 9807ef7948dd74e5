/** What a supervisor is told. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/mirror-file.ts';
import { until } from '../../support/testbed/daemon-process.ts';
import { testbed } from '../../support/testbed.ts';

/** A `systemd-notify` that writes down what it is asked for, with its whole environment. */
function notifier(): { folder: string; said: () => string } {
  const folder = temporaryFolder();
  const [script, paper] = [join(folder, 'systemd-notify'), join(folder, 'said')];
  writeFileSync(script, `#!/bin/sh\necho "$@ at $NOTIFY_SOCKET, $VENDOR_MIRROR_CONFIG" >> ${paper}\n`);
  chmodSync(script, 0o755);
  return { folder, said: () => (existsSync(paper) ? readFileSync(paper, 'utf8') : '') };
}

describe('systemd', () => {
  it('is notified when the daemon is ready and when it stops, if the unit asks for it', async () => {
    const { folder, said } = notifier();
    const env = { NOTIFY_SOCKET: '/run/notify', PATH: folder };
    const at = await testbed({ level: 'program', service: { vendors: 5 }, listens: true, env });
    const daemon = await at.serve();
    await until(() => said() === 'READY=1 at /run/notify, \n');
    expect(await daemon.end()).toBe(0);
    expect(said()).toBe('READY=1 at /run/notify, \nSTOPPING=1 at /run/notify, \n');
  });

  it('is notified twice within each WatchdogSec that the daemon is alive, until it stops', async () => {
    const { folder, said } = notifier();
    const env = { NOTIFY_SOCKET: '/run/notify', PATH: folder, WATCHDOG_USEC: '200000' };
    const at = await testbed({ level: 'program', service: { vendors: 5 }, listens: true, env });
    const daemon = await at.serve();
    await until(() => said().split('WATCHDOG=1').length > 3);
    expect(await daemon.end()).toBe(0);
    expect(said()).toMatch(/^READY=1 [^]*STOPPING=1 at [^\n]*\n(WATCHDOG=1 at [^\n]*\n)?$/);
  });

  it('that cannot be notified is no reason to stop', async () => {
    const env = { NOTIFY_SOCKET: '/run/notify', PATH: temporaryFolder() };
    const at = await testbed({ level: 'program', service: { vendors: 5 }, listens: true, env });
    const daemon = await at.serve();
    await daemon.logged('systemd could not be notified: READY=1');
    expect(await daemon.end()).toBe(0);
  });

  it('is not notified if the unit does not ask for it', async () => {
    const { folder, said } = notifier();
    const at = await testbed({
      level: 'program',
      service: { vendors: 5 },
      listens: true,
      env: { PATH: folder },
    });
    expect(await (await at.serve()).end()).toBe(0);
    expect(said()).toBe('');
  });
});
