/** `serve` as a person sees it who starts it in a terminal. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { isMissing } from '../../support/needed.ts';
import { screenOf } from '../../support/screen/screen.ts';
import { program } from '../../support/testbed/build.ts';
import { testbed } from '../../support/testbed.ts';

const isVerdict = /^Your mirror is correct as of \d\d:\d\d:\d\d UTC/;
const lastLine = '  stop        Ctrl-C';
const missing = spawnSync('script', ['--version']).status === 0 ? undefined : 'there is no `script` (util-linux)';

it.skipIf(isMissing(missing))(
  'serve in a terminal draws its summary in place, without lines of JSON, and leaves one line after Ctrl-C',
  async () => {
    const at = await testbed({ level: 'program', service: { vendors: 20 }, listens: true });
    // A first start says that it begins new files.
    expect((await at.run('sync')).status).toBe(0);
    const command = `stty cols 60 rows 30; exec '${process.execPath}' '${program}' serve`;
    const window = spawn('script', ['-qefc', command, '/dev/null'], {
      cwd: at.folder,
      env: { ...process.env, TERM: 'xterm', VENDOR_MIRROR_CONFIG: join(at.folder, 'mirror.yaml') },
    });
    onTestFinished(() => void window.kill('SIGKILL'));
    let written = '';
    await new Promise<void>((resolve) =>
      window.stdout.setEncoding('utf8').on('data', (text: string) => {
        written += text;
        const lines = screenOf(written);
        if (lines.some((line) => isVerdict.test(line)) && lines.includes(lastLine)) resolve();
      }),
    );
    const screen = screenOf(written);
    expect(screen.filter((text) => text.startsWith('account '))).toHaveLength(1);
    expect(screen.filter((text) => text.length > 60 || text.includes('{"'))).toEqual([]);
    window.stdin.write('\u0003');
    expect(await once(window, 'exit')).toEqual([0, null]);
    expect(screenOf(written).filter((text) => text !== '')).toEqual([
      expect.stringMatching(/^Stopped\. The mirror holds every change up to \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\.$/),
    ]);
  },
);
