import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { MirrorError } from '../../../../src/domain/errors.ts';
import { withNodeOptions } from '../../../../src/cmd/process/process-context.ts';
import { vendor, version } from '../../../support/mirror-file.ts';
import { testbed, type Testbed } from '../../../support/testbed.ts';
import { build, program } from '../../../support/testbed/build.ts';

beforeAll(build);

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function start(
  argv: readonly string[],
  line: Testbed<'command'>,
  nodeOptions: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): ChildProcess {
  const child = spawn(process.execPath, [...nodeOptions, program, ...argv], {
    cwd: line.folder,
    env: { PATH: process.env['PATH'], VENDOR_MIRROR_CONFIG: line.settings, ...env },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

async function end(child: ChildProcess): Promise<Ended> {
  const [stdout, stderr] = [text(child.stdout!), text(child.stderr!)];
  await once(child, 'close');
  return { status: child.exitCode, stdout: await stdout, stderr: await stderr };
}

describe('the process', () => {
  it('exits with 0 and prints results on standard output, all else on standard error', async () => {
    const line = await testbed({ level: 'command' });
    await line.fill({ vendors: [vendor(11)] });
    const { status, stdout, stderr } = await end(start(['vendors', 'list'], line));
    expect(status).toBe(0);
    expect(stdout).toContain('Vendor 11');
    expect(stderr).toBe('1 vendor.\n');
  });

  it.each([
    [['--frobnicate'], 64],
    [['status', '-c', 'nowhere.yaml'], 78],
    [['vendors', 'show', '99'], 1],
    [['export', 'no/such/folder.db'], 74],
  ])('%j exits with %i', async (argv, expected) => {
    const line = await testbed({ level: 'command' });
    await line.fill({ vendors: [vendor(11)] });
    const { status, stderr } = await end(start(argv, line));
    expect(status).toBe(expected);
    expect(stderr).toMatch(/^vendor-mirror: .+\n {2}.+\n$/);
  });

  it('is quiet when the reader of its results goes away, and stops following', async () => {
    const line = await testbed({ level: 'command' });
    await line.fill({ vendor_versions: Array.from({ length: 3_000 }, (_, index) => version(index + 1, [])) });
    const child = start(['changes', '--follow'], line);
    child.stdout!.once('data', () => child.stdout!.destroy());
    const stderr = text(child.stderr!);
    await once(child, 'close');
    expect([child.exitCode, await stderr]).toEqual([1, '']);
  });

  it('J1 ends cleanly at the first signal, and keeps what it has read', async () => {
    const { line, asked } = await hangingService();
    const child = start(['sync', '--account', '6BApk'], line);
    await Promise.race([asked, once(child, 'close')]);
    child.kill('SIGINT');
    const { status, stdout, stderr } = await end(child);
    expect(status).toBe(1);
    expect(stdout).toMatch(/^6BApk +incomplete /m);
    expect(stderr).toContain('Interrupted after 0 pages; what was read is kept.');
  });

  it('J1 ends at once at the second signal, whatever is still running', async () => {
    const { line, asked } = await hangingService();
    const endless = 'data:text/javascript,setInterval(() => undefined, 1000)';
    const child = start(['sync', '--account', '6BApk'], line, ['--import', endless]);
    await Promise.race([asked, once(child, 'close')]);
    child.kill('SIGTERM');
    await once(child.stdout!, 'data');
    child.kill('SIGTERM');
    expect((await end(child)).status).toBe(1);
  });

  it('J2 exits with 70 and a sentence after an uncaught error', async () => {
    const fault = `process.on('newListener', (event) => event === 'uncaughtException' && setImmediate(() => { throw new Error('boom') }))`;
    const { status, stderr } = await end(
      start(['changes', '--follow'], await testbed({ level: 'command' }), [
        '--import',
        `data:text/javascript,${encodeURIComponent(fault)}`,
      ]),
    );
    expect(status).toBe(70);
    expect(stderr).toMatch(/vendor-mirror: boom\n {2}Node\.js was started with --import /);
  });

  it.each([
    ['--no-addons --no-warnings', [], '--no-addons, --no-warnings'],
    ['', ['--no-addons'], '--no-addons'],
  ])('J2 exits with 70 and names options of Node.js: NODE_OPTIONS=%j and %j', async (nodeOptions, given, named) => {
    const line = await testbed({ level: 'command' });
    const child = start(['sync'], line, given, { NODE_OPTIONS: nodeOptions });
    const { status, stderr } = await end(child);
    expect(status).toBe(70);
    expect(stderr).toContain(
      `\n  Node.js was started with ${named} (NODE_OPTIONS or its command line): try without first. If that does not help, report it with the lines above.\n`,
    );
  });

  it('J2 is at fault itself where Node.js was started without options', () => {
    expect(withNodeOptions(new MirrorError('bug', 'boom'), {}).hint).toMatch(/^This is a bug in vendor-mirror/);
  });
});

/** A service that takes a request and never answers it, with settings that name it. */
async function hangingService(): Promise<{ line: Testbed<'command'>; asked: Promise<unknown> }> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const line = await testbed({
    level: 'command',
    settings: `service: { baseUrl: "http://127.0.0.1:${port}", auth: { accessToken: t } }`,
  });
  return { line, asked: once(server, 'request') };
}
