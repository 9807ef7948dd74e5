/** A mirror belongs to one service, and secrets to one mirror. */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ask, otherConnection } from '../../support/mirror-file.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const account = ['--account', '6BApk'];

/** Replaces a text in the settings. */
function change(line: Testbed<'command'>, from: string, to: string): void {
  writeFileSync(line.settings, readFileSync(line.settings, 'utf8').replace(from, to));
}

function heldBy(line: Testbed<'command'>): unknown {
  return ask(line.database, 'SELECT service, (SELECT count(*) FROM vendors) AS vendors FROM mirror_identity')[0];
}

describe('a mirror', () => {
  it('K23 belongs to the service that answered first, and is not touched by another one', async () => {
    const [one, other] = [
      await testbed({ level: 'sandbox' }),
      await testbed({ level: 'sandbox', seed: 'other', vendors: 60 }),
    ];
    const astray = await testbed({ level: 'sandbox', faults: { redirect: 1 } });
    const line = await testbed({ level: 'command', service: one });
    change(line, one.baseUrl, astray.baseUrl);
    expect((await line.run('sync', ...account)).status).toBe(69);
    change(line, astray.baseUrl, `${one.baseUrl}/`);
    expect((await line.run('sync', ...account)).status).toBe(0);
    expect(heldBy(line)).toEqual({ service: one.baseUrl, vendors: 30 });
    change(line, `${one.baseUrl}/`, other.baseUrl);
    const commands = [['sync'], ['reconcile'], ['verify'], ['serve'], ['callbacks', 'list']];
    for (const command of commands) {
      const { status, stderr } = await line.run(...command, ...account);
      expect(status, command.join(' ')).toBe(78);
      expect(stderr).toContain(`${line.database} mirrors ${one.baseUrl}, but the settings name ${other.baseUrl}.`);
      expect(stderr).toContain('`vendor-mirror doctor --accept-service`');
    }
    expect(heldBy(line)).toEqual({ service: one.baseUrl, vendors: 30 });
    expect((await line.run('vendors', 'list', ...account)).status).toBe(0);
  });

  it('K23 of no service yet is not touched by one whose first answer comes after that of another', async () => {
    const late = await testbed({ level: 'sandbox' });
    let requests = 0;
    const line: Testbed<'command'> = await testbed({
      level: 'command',
      service: late,
      fetch(input, init) {
        requests += 1;
        // Another process gets its first answer while this one waits for its own.
        if (requests === 1)
          otherConnection(line.database).exec("UPDATE mirror_identity SET service = 'https://first.example'");
        return fetch(input, init);
      },
    });
    const { status, stderr } = await line.run('sync', ...account);
    expect(stderr).toContain(`mirrors https://first.example, but the settings name ${late.baseUrl}.`);
    expect([status, heldBy(line)]).toEqual([78, { service: 'https://first.example', vendors: 0 }]);
  });

  it('K23 of an older version adopts the first service that it meets', async () => {
    const one = await testbed({ level: 'sandbox' });
    const line = await testbed({ level: 'command', service: one });
    await line.fill({ vendors: [] });
    expect(heldBy(line)).toEqual({ service: null, vendors: 0 });
    await line.run('callbacks', 'list', ...account);
    expect(heldBy(line)).toEqual({ service: one.baseUrl, vendors: 0 });
  });

  it('K23 belongs to another address after a person has confirmed a comparison of the vendors', async () => {
    const [one, moved] = [await testbed({ level: 'sandbox' }), await testbed({ level: 'sandbox' })];
    for (const answer of ['n\n', 'y\n']) {
      const line = await testbed({ level: 'command', service: one, typed: answer });
      expect((await line.run('sync', ...account)).status).toBe(0);
      change(line, one.baseUrl, moved.baseUrl);
      expect((await line.run('doctor', ...account)).status).toBe(78);
      const { status, stdout, stderr } = await line.run('doctor', '--accept-service', ...account);
      const facts = `At ${moved.baseUrl}, of 5 vendors 5 are the same, 0 are different ones with the same number, 0 are not in the mirror.`;
      expect(stderr).toContain(`${facts} Is it the same service? [y/N]`);
      expect(stdout.replaceAll(/\s+/g, ' ')).toContain(facts);
      const accepted = answer === 'y\n';
      expect(status).toBe(accepted ? 0 : 78);
      expect((await line.run('sync', ...account)).status).toBe(accepted ? 0 : 78);
    }
  });

  it('K23 is not given to a service with other vendors by --yes, and not without a terminal to ask on', async () => {
    const [one, moved, other] = [
      await testbed({ level: 'sandbox' }),
      await testbed({ level: 'sandbox' }),
      await testbed({ level: 'sandbox', seed: 'other' }),
    ];
    const line = await testbed({ level: 'command', service: one });
    await line.run('sync', ...account);
    change(line, one.baseUrl, other.baseUrl);
    const accept = (...more: string[]) => line.run('doctor', '--accept-service', ...account, ...more);
    expect((await accept()).status).toBe(64);
    const refused = await accept('--yes', '--json');
    expect(refused.status).toBe(78);
    expect(refused.stdout).toContain('It was not accepted as the same service.');
    expect(heldBy(line)).toEqual({ service: one.baseUrl, vendors: 30 });
    change(line, other.baseUrl, moved.baseUrl);
    expect((await accept('--yes')).status).toBe(0);
    expect(heldBy(line)).toEqual({ service: moved.baseUrl, vendors: 30 });
  });
});

describe('secrets', () => {
  it('K47 belong to one mirror: another one is refused with 75, and leaves them as they are', async () => {
    const one = await testbed({ level: 'sandbox' });
    const line = await testbed({ level: 'command', service: one });
    expect((await line.run('sync', ...account)).status).toBe(0);
    const owner = (): unknown => ask(join(line.folder, 'secrets.db'), 'SELECT * FROM owner');
    const before = owner();
    change(line, line.database, join(line.folder, 'second.db'));
    for (const command of ['sync', 'serve']) {
      const { status, stderr } = await line.run(command, ...account);
      expect([status, command]).toEqual([75, command]);
      expect(stderr).toContain(`${join(line.folder, 'secrets.db')} belongs to another mirror, ${line.database}.`);
    }
    expect(owner()).toEqual(before);
    change(line, join(line.folder, 'second.db'), line.database);
    expect((await line.run('sync', ...account)).status).toBe(0);
  });

  it('K47 follow a mirror that was moved, and a new one in its place', async () => {
    const one = await testbed({ level: 'sandbox' });
    const line = await testbed({ level: 'command', service: one });
    await line.run('sync', ...account);
    const moved = join(line.folder, 'moved.db');
    renameSync(line.database, moved);
    change(line, line.database, moved);
    expect((await line.run('sync', ...account)).status).toBe(0);
    rmSync(moved);
    expect((await line.run('sync', ...account)).status).toBe(0);
    expect(ask(join(line.folder, 'secrets.db'), 'SELECT mirror_id, mirror_path FROM owner')).toEqual(
      ask(moved, 'SELECT mirror_id, ? AS mirror_path FROM mirror_identity', moved),
    );
  });
});
