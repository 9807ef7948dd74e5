/** The shipped systemd unit and its restrictions: what it forbids, the program does without. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isMissing } from '../../support/needed.ts';
import { packageRoot } from '../../support/mirror-file.ts';
import { program } from '../../support/testbed/build.ts';
import { watched } from '../../support/testbed/daemon-process.ts';
import { testbed } from '../../support/testbed.ts';

const script = join(import.meta.dirname, 'without-netlink.py');
const other = process.platform === 'linux' && process.arch === 'x64' ? undefined : 'this is not Linux on x86-64';

describe.skipIf(isMissing(other))('L92 under the restrictions of a service manager', () => {
  it.each(['0.0.0.0', '127.0.0.1', 'localhost', "'::'"])('serve listens on %s, and ends cleanly', async (host) => {
    const at = await testbed({ level: 'program', service: { vendors: 5 }, listens: true });
    const settings = join(at.folder, 'mirror.yaml');
    writeFileSync(settings, readFileSync(settings, 'utf8').replace('host: 127.0.0.1', `host: ${host}`));
    const daemon = watched(at.execute('python3', script, process.execPath, program, 'serve'));
    await daemon.logged('"msg":"reconcile complete"');
    const address = host === "'::'" ? '[::1]' : host === 'localhost' ? 'localhost' : '127.0.0.1';
    expect((await fetch(`http://${address}:${at.listenerPort}/healthz`)).status).toBe(200);
    expect(await daemon.end('SIGTERM')).toBe(0);
  });
});

it('L92 the shipped unit lets a program ask for the interfaces of the machine', () => {
  const unit = readFileSync(join(packageRoot, 'config/systemd/vendor-mirror.service'), 'utf8');
  expect(/^RestrictAddressFamilies=(.*)$/m.exec(unit)?.[1]?.split(' ')).toEqual([
    'AF_INET',
    'AF_INET6',
    'AF_NETLINK',
    'AF_UNIX',
  ]);
});
