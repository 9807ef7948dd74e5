/** Processes in containers of their own, in each of which they are process 1. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isMissing } from '../../support/needed.ts';
import { until, watched, type DaemonProcess } from '../../support/testbed/daemon-process.ts';
import { program } from '../../support/testbed/build.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';

/** A process number space of its own, in which the program is process 1; it ends with this one. */
const apart = ['unshare', '--user', '--map-root-user', '--pid', '--fork', '--kill-child', '--'] as const;
const refused =
  spawnSync(apart[0], [...apart.slice(1), 'true']).status === 0 ? undefined : 'no process number space can be made';

function contained(at: Testbed<'program'>, ...argv: string[]): DaemonProcess {
  return watched(at.execute(apart[0], ...apart.slice(1), process.execPath, program, ...argv));
}

const runs = (at: Testbed<'program'>) => at.query<{ outcome: string }>('SELECT outcome FROM runs ORDER BY id');

describe.skipIf(isMissing(refused))('in containers, where every process is process 1', () => {
  it('K9 a one-shot command does not mark the live run of the daemon as abandoned, but that of a dead one', async () => {
    const at = await testbed({
      level: 'program',
      service: { vendors: 1_000 },
      listens: true,
      rate: '4/1s',
    });
    const daemon = contained(at, 'serve');
    await daemon.logged('"msg":"serving"');
    await until(() => at.query('SELECT 1 FROM vendors').length >= 30);
    expect(runs(at)).toEqual([{ outcome: 'running' }]);

    const command = contained(at, 'sync');
    await until(() => runs(at).length === 2);
    expect(runs(at)).toEqual([{ outcome: 'running' }, { outcome: 'running' }]);

    await daemon.end('SIGKILL');
    const next = contained(at, 'sync');
    await until(() => runs(at).length === 3);
    expect(runs(at)).toEqual([{ outcome: 'abandoned' }, { outcome: 'running' }, { outcome: 'running' }]);
    await Promise.all([command.end('SIGKILL'), next.end('SIGKILL')]);
  });

  it('K9 J3 a daemon that dies repeatedly during its runs waits before the next one', async () => {
    const at = await testbed({
      level: 'program',
      service: { vendors: 1_000 },
      listens: true,
      rate: '4/1s',
    });
    for (const died of [0, 1]) {
      const daemon = contained(at, 'serve');
      await daemon.logged('"msg":"serving"');
      await until(() => runs(at).length > died);
      await daemon.end('SIGKILL');
    }
    const daemon = contained(at, 'serve');
    await daemon.logged('2 runs died with the process: the next one waits 4 s');
    await daemon.end('SIGKILL');
    // Of the locks of those that died, only the latest can be left.
    expect(readdirSync(at.folder).filter((name) => name.startsWith('vendors.db.lock-'))).toHaveLength(1);
  });
});
