/** What the log says last, when a daemon ends. */
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../support/mirror-file.ts';
import { program } from '../../support/testbed/build.ts';
import { ended } from '../../support/testbed/program.ts';
import { testbed } from '../../support/testbed.ts';

interface LogRecord {
  readonly level: number;
  readonly msg: string;
  readonly [fact: string]: unknown;
}

/** The last of the lines that are records. */
function lastRecord(stderr: string): LogRecord {
  const records = stderr.split('\n').filter((line) => line.startsWith('{'));
  return JSON.parse(records.at(-1) ?? '{}') as LogRecord;
}

describe('the last record of the log', () => {
  it('K26 is the signal that ended the daemon, and the exit status', async () => {
    const daemon = await (
      await testbed({ level: 'program', service: { vendors: 5 }, listens: true })
    ).serveUntilSwept();
    expect(await daemon.end()).toBe(0);
    expect(lastRecord(daemon.stderr())).toMatchObject({
      level: 30,
      msg: 'stopped',
      exit: 0,
      reason: 'Interrupted by SIGTERM.',
    });
  });

  it('K26 is why the daemon cannot start', async () => {
    const at = await testbed({ level: 'program', service: { vendors: 5 }, listens: true });
    const first = await at.serveUntilSwept();
    const { status, stderr } = await at.run('serve');
    expect(status).toBe(75);
    expect(lastRecord(stderr)).toMatchObject({ level: 60, code: 'already_running', exit: 75 });
    expect(await first.end()).toBe(0);

    const other = createServer().listen(at.adminPort, '127.0.0.1');
    onTestFinished(() => void other.close());
    await once(other, 'listening');
    expect(lastRecord((await at.run('serve')).stderr)).toMatchObject({ level: 60, code: 'port_taken', exit: 69 });

    writeFileSync(join(at.folder, 'mirror.yaml'), 'accounts: [canary7c19');
    const refused = await at.run('serve');
    expect(lastRecord(refused.stderr)).toMatchObject({ level: 60, code: 'settings_invalid', exit: 78 });
    expect(refused.stderr).not.toContain('canary7c19');
  });

  it('K26 is the error that ended the daemon, after everything that was logged while stopping', async () => {
    const at = await testbed({
      level: 'program',
      service: { vendors: 5 },
      listens: true,
      settings: 'schedule: { reconcile: "* * * * * *" }',
    });
    const daemon = await at.serveUntilSwept();
    const damage = new Driver(at.database);
    damage.unsafeMode();
    damage.exec(
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 1000000 WHERE name = 'runs'; PRAGMA schema_version = 4000",
    );
    damage.close();
    expect(await daemon.ended).toBe(74);
    expect(lastRecord(daemon.stderr())).toMatchObject({ level: 60, code: 'database_corrupt', exit: 74 });
  });

  it('K26 is a bug of the program, too', async () => {
    const folder = temporaryFolder();
    const preload = join(folder, 'fault.cjs');
    writeFileSync(preload, "process.on('SIGUSR2', () => { throw new TypeError('boom'); });");
    const at = await testbed({
      level: 'program',
      service: { vendors: 5 },
      listens: true,
      env: { NODE_OPTIONS: `--require ${preload}` },
    });
    const daemon = await at.serveUntilSwept();
    expect(await daemon.end('SIGUSR2')).toBe(70);
    expect(lastRecord(daemon.stderr())).toMatchObject({ level: 60, code: 'bug', exit: 70, err: { message: 'boom' } });
  });
});

it('K26 a driver that was built for another Node.js is reported as such, with a remedy', async () => {
  const at = await testbed({ level: 'program', service: { vendors: 5 } });
  await at.run('sync');
  const [binary, preload] = [join(at.folder, 'other.node'), join(at.folder, 'preload.cjs')];
  writeFileSync(binary, 'no library of this machine');
  writeFileSync(
    preload,
    `const open = process.dlopen;
     process.dlopen = (module, file, ...rest) =>
       open.call(process, module, /better[_-]sqlite3.*\\.node$/.test(file) ? ${JSON.stringify(binary)} : file, ...rest);`,
  );
  for (const command of ['sync', 'serve', 'status', 'vendors list']) {
    const started = at.execute(process.execPath, '--require', preload, program, ...command.split(' '), '--json');
    const { status, stdout, stderr } = await ended(started);
    expect(status, stderr).toBe(74);
    expect(stderr).toMatch(/cannot be loaded by Node\.js v\d[^]+Install the packages again with npm/);
    expect(stderr).not.toContain('fault of vendor-mirror');
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: 'driver_unusable' } });
  }
});
