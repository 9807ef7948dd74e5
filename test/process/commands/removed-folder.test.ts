/** L34: the working directory of a process was removed, as by an upgrade that replaces a folder: only relative paths need it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { program } from '../../support/testbed/build.ts';
import { watched } from '../../support/testbed/daemon-process.ts';
import { ended, type Ended } from '../../support/testbed/program.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

const inRemoved = (command: string): string =>
  `mkdir gone && cd gone && rmdir ../gone && exec '${process.execPath}' '${program}' ${command}`;
const run = (at: Testbed<'program'>, command: string): Promise<Ended> =>
  ended(at.execute('sh', '-c', inRemoved(command)));

describe('L34 in a working directory that was removed', () => {
  it('commands with absolute paths work', async () => {
    const at = await testbed({ level: 'program', service: { vendors: 5 } });
    expect((await run(at, 'sync --json')).status).toBe(0);
    expect(JSON.parse((await run(at, 'status --json')).stdout)).toMatchObject({ ok: true });
    expect((await run(at, 'vendors list')).status).toBe(0);
    for (const name of ['all.csv', 'all.parquet', 'all.db']) {
      const file = join(at.folder, name);
      const { status, stderr } = await run(at, `export '${file}'`);
      expect([status, existsSync(file)], stderr).toEqual([0, true]);
    }
    expect(readFileSync(join(at.folder, 'all.csv'), 'utf8').trim().split('\n')).toHaveLength(6);
  });

  it.each(['export all.csv', 'export ./all.db', 'sync --sandbox'])(
    'a relative path is refused with a sentence: %s',
    async (command) => {
      const at = await testbed({ level: 'program', service: { vendors: 5 } });
      await at.run('sync');
      const { status, stderr } = await run(at, command);
      expect([status, stderr]).toEqual([78, expect.stringContaining('The working directory was removed')]);
      expect(stderr).not.toMatch(/bug|uv_cwd/);
    },
  );

  it('a daemon serves, mirrors and publishes', async () => {
    const world = await testbed({ level: 'sandbox', vendors: 5 });
    const at = await testbed({ level: 'program', service: world, listens: true });
    const daemon = watched(at.execute('sh', '-c', inRemoved('serve')));
    await daemon.swept();
    expect((await fetch(`http://127.0.0.1:${at.adminPort}/`)).status).toBe(200);
    expect(await daemon.end('SIGTERM')).toBe(0);
    expect(daemon.stderr()).not.toContain('uv_cwd');
  });
});
