/**
 * The container: built by the shipped Containerfile, and run as the compose file says. No registry of images is needed: this machine's Node.js,
 * with the tools and libraries that the build calls, stands in for the two images that the file begins from.
 */
import { execFile, execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { folderPrefix, packageRoot } from '../../support/mirror-file.ts';
import { isMissing } from '../../support/needed.ts';
import { billOf, packagesIn } from '../../support/packages.ts';
import { missingPackages } from '../../support/registry.ts';
import { watched, type DaemonProcess } from '../../support/testbed/daemon-process.ts';
import { testbed } from '../../support/testbed.ts';

const output = (command: string, ...args: readonly string[]): string =>
  execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
const works = (command: string, ...args: readonly string[]): boolean => spawnSync(command, args).status === 0;

/** A Node.js for which the driver comes compiled, as in the image. */
const node =
  Number.parseInt(process.versions.node, 10) >= 22
    ? process.execPath
    : spawnSync('sh', ['-c', 'command -v node-newer'], { encoding: 'utf8' }).stdout.trim();

function missing(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root on Linux builds an image here';
  if (!works('buildah', '--version')) return 'buildah is not installed';
  if (!works('unshare', '--mount', '--pid', '--fork', 'true')) return 'no namespaces can be made';
  if (node === '') return 'there is no Node.js 22 or newer';
  return missingPackages('zod');
}

/** What a stage needs of its base: files of this machine, where they are here. */
function fillBase(base: string): void {
  const tools = ['sh', 'cp', 'mkdir', 'chmod', 'ln', 'install', 'rm', 'env'].map((tool) => output('which', tool));
  const copy = (file: string, to = file): void => {
    mkdirSync(join(base, dirname(to)), { recursive: true });
    cpSync(realpathSync(file), join(base, to));
  };
  for (const tool of tools) copy(tool, tool.replace('/usr/', '/'));
  copy(join(base, 'bin/env'), '/usr/bin/env');
  copy(node, '/usr/local/bin/node');
  const libraries = [...tools, node].flatMap((file) => output('ldd', file).match(/\/\S+/g) ?? []);
  const [libc = ''] = libraries.filter((file) => file.includes('/libc.so'));
  // Found by name only when they are needed: for host names, and by the compiler of the program.
  const others = [
    'libresolv.so.2',
    'libnss_dns.so.2',
    'libnss_files.so.2',
    'librt.so.1',
    'libpthread.so.0',
    'libdl.so.2',
  ];
  const beside = others.map((name) => join(dirname(libc), name)).filter((file) => existsSync(file));
  for (const file of new Set([...libraries, ...beside])) copy(file);
  cpSync(join(output('npm', 'root', '--global'), 'npm'), join(base, 'usr/local/lib/node_modules/npm'), {
    recursive: true,
  });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(base, 'usr/local/bin/npm'));
  for (const folder of ['etc', 'proc', 'root', 'tmp', 'var/lib']) mkdirSync(join(base, folder), { recursive: true });
  writeFileSync(join(base, 'etc/passwd'), 'root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n');
  writeFileSync(join(base, 'etc/group'), 'root:x:0:\nnode:x:1000:\n');
  const authorities = process.env['NODE_EXTRA_CA_CERTS'];
  if (authorities !== undefined) copy(authorities, '/etc/authorities.pem');
}

interface Image {
  readonly OCIv1: {
    readonly config: {
      readonly User: string;
      readonly Env: readonly string[];
      readonly Entrypoint: readonly string[];
      readonly Cmd: readonly string[];
      readonly WorkingDir: string;
      readonly Volumes: object;
    };
  };
}

describe.skipIf(isMissing(missing()))('L60 the container', () => {
  const folder = mkdtempSync(join(tmpdir(), folderPrefix));
  const storage = ['--storage-driver', 'vfs', '--root', join(folder, 'root'), '--runroot', join(folder, 'run')];
  const buildah = async (...args: readonly string[]): Promise<string> =>
    (await promisify(execFile)('buildah', [...storage, ...args], { maxBuffer: 2 ** 26 })).stdout.trim();
  let image: Image['OCIv1']['config'];
  let root = '';

  beforeAll(async () => {
    const base = join(folder, 'base');
    fillBase(base);
    const containerfile = join(packageRoot, 'config/container/Containerfile');
    const [first = '', ...more] = [...readFileSync(containerfile, 'utf8').matchAll(/^FROM (\S+)/gm)].map(
      ([, name = '']) => name,
    );
    const extra = existsSync(join(base, 'etc/authorities.pem')) ? ' NODE_EXTRA_CA_CERTS=/etc/authorities.pem' : '';
    writeFileSync(join(folder, 'Base'), `FROM scratch\nCOPY . /\nENV PATH=/usr/local/bin:/usr/bin:/bin${extra}\n`);
    const build = ['bud', '--quiet', '--isolation', 'chroot', '--network', 'host'];
    await buildah(...build, '-f', join(folder, 'Base'), '-t', first, base);
    for (const name of more) await buildah('tag', first, name);
    const ignored = ['--ignorefile', `${containerfile}.dockerignore`];
    await buildah(...build, '--pull-never', ...ignored, '-f', containerfile, '-t', 'vendor-mirror', packageRoot);
    image = (JSON.parse(await buildah('inspect', '--type', 'image', 'vendor-mirror')) as Image).OCIv1.config;
    root = await buildah('mount', await buildah('from', '--quiet', '--pull-never', 'vendor-mirror'));
    // An engine makes the place of what it mounts there.
    mkdirSync(join(root, 'etc/vendor-mirror'));
  }, 600_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  interface Place {
    readonly volume: string;
    readonly settings: string;
    /** Of the listener. */
    readonly port: number;
  }

  /** Settings and a volume, which begins as the image has it. */
  async function placed(): Promise<Place & { again: () => Promise<Place> }> {
    const service = await testbed({ level: 'sandbox', vendors: 5 });
    const volume = mkdtempSync(join(folder, 'volume-'));
    const [initial] = Object.keys(image.Volumes);
    const { uid, gid, mode } = statSync(join(root, initial!));
    chownSync(volume, uid, gid);
    expect(mode & 0o777).toBe(0o750);
    const again = async (): Promise<Place> => {
      const { listenerPort: port, adminPort } = await testbed({ level: 'program', service, listens: true });
      const settings = mkdtempSync(join(folder, 'settings-'));
      output('chmod', '755', settings);
      const token = join(settings, 'token');
      writeFileSync(token, service.token, { mode: 0o400 });
      chownSync(token, uid, gid);
      writeFileSync(
        join(settings, 'mirror.yaml'),
        `accounts: [6BApk]
database: /var/lib/vendor-mirror/vendors.db
secrets: /var/lib/vendor-mirror/secrets.db
service: { baseUrl: "${service.baseUrl}", auth: { accessTokenFile: /etc/vendor-mirror/token } }
listener: { port: ${port} }
admin: { port: ${adminPort} }
`,
      );
      return { volume, settings, port };
    };
    return { ...(await again()), again };
  }

  /** Runs the image as process 1: its user, a root that cannot be written, a volume, and no way to more rights. */
  function start({ volume, settings }: Place): DaemonProcess {
    const [, uid = '', gid = ''] = new RegExp(`^${image.User}:x:(\\d+):(\\d+):`, 'm').exec(
      readFileSync(join(root, 'etc/passwd'), 'utf8'),
    )!;
    const [place = ''] = Object.keys(image.Volumes);
    const prepare = `set -e
mount --bind "$1" "$1"
mount --bind "$2" "$1${place}"
mount --bind "$3" "$1/etc/vendor-mirror"
mount -t proc proc "$1/proc"
mount -t tmpfs tmpfs "$1/tmp"
mount -o remount,ro,bind "$1"
root=$1
shift 3
exec setpriv --no-new-privs chroot --userspec=${uid}:${gid} --groups= "$root" /bin/env -i -C ${image.WorkingDir} "$@"`;
    const command = [...image.Env, ...image.Entrypoint, ...image.Cmd];
    const apart = ['--mount', '--pid', '--fork', '--kill-child', '--'];
    const child = spawn('unshare', [...apart, 'sh', '-ec', prepare, 'sh', root, volume, settings, ...command]);
    onTestFinished(() => void child.kill('SIGKILL'));
    return watched(child);
  }

  /** Of the process that is 1 in its container: its id here. */
  function inside({ pid }: ChildProcess): number {
    return Number(readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, 'utf8'));
  }

  function execute(pid: number, ...command: readonly string[]): { status: number | null; stderr: string } {
    const args = ['--target', String(pid), '--mount', '--pid', '--root', '--setuid', '1000', '--setgid', '1000', '--'];
    return spawnSync('nsenter', [...args, ...command], { encoding: 'utf8', timeout: 60_000 });
  }

  /** The command of the health check, which images in the OCI format do not hold. */
  function healthCheck(): string[] {
    const text = readFileSync(join(packageRoot, 'config/container/Containerfile'), 'utf8');
    const check = /^HEALTHCHECK .*\n +CMD (\[.*\])$/m.exec(text)?.[1];
    return JSON.parse(check ?? '[]') as string[];
  }

  it('has another user than root, a volume and a health check', () => {
    expect(image).toMatchObject({ User: 'node', Volumes: { '/var/lib/vendor-mirror': {} } });
    expect(healthCheck()[0]).toBe('node');
  });

  it('has the packages of its bill of materials, and no other', () => {
    const app = join(root, 'app');
    const { loaded, driver } = billOf(app);
    expect(driver.length).toBeGreaterThan(0);
    expect(packagesIn(join(app, 'node_modules'))).toEqual([...loaded, ...driver].sort());
  });

  it('runs as process 1 of another user with a read-only root, is healthy unless it hangs, and ends at SIGTERM', async () => {
    const place = await placed();
    const daemon = start(place);
    await daemon.logged('"msg":"serving"');
    await daemon.logged('"msg":"reconcile complete"');
    const pid = inside(daemon.child);
    expect(basename(readlinkSync(`/proc/${pid}/exe`)), 'a shell as process 1 passes no signal on').toBe('node');
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    expect(status).toMatch(/^Uid:\t1000\t/m);
    expect(status).toMatch(/^CapEff:\t0+$/m);
    expect(status).toMatch(/^NSpid:\t\d+\t1$/m);
    const write = execute(pid, '/usr/local/bin/node', '-e', 'fs.writeFileSync("/app/x", "")');
    expect(write.stderr).toContain('EROFS');
    for (const file of ['vendors.db', 'secrets.db']) expect(statSync(join(place.volume, file)).uid, file).toBe(1000);

    const [command = '', ...args] = healthCheck();
    const checked = (port: number, limit = '4000'): number | null => {
      const own = args.map((arg) => arg.replace('8787', String(port)).replace('4000', limit));
      return execute(pid, `/usr/local/bin/${command}`, ...own).status;
    };
    expect([checked(place.port), checked(1)]).toEqual([0, 1]);
    // Connections are still made, by the kernel, and nobody answers.
    process.kill(pid, 'SIGSTOP');
    expect(checked(place.port, '200')).toBe(1);
    process.kill(pid, 'SIGCONT');
    expect(checked(place.port)).toBe(0);

    process.kill(pid, 'SIGTERM');
    await daemon.ended;
    expect(daemon.child.exitCode).toBe(0);
  });

  it('refuses to be the second on a volume, and is the next one there once the first has ended', async () => {
    const place = await placed();
    const first = start(place);
    await first.logged('"msg":"serving"');
    const other = await place.again();
    const second = start(other);
    await Promise.race([second.ended, second.logged('"msg":"serving"').catch(() => undefined)]);
    expect([second.child.exitCode, second.stderr()]).toEqual([75, expect.stringContaining('vendors.db')]);
    process.kill(inside(first.child), 'SIGKILL');
    await first.ended;
    const third = start(other);
    await third.logged('"msg":"serving"');
    process.kill(inside(third.child), 'SIGTERM');
    await third.ended;
    expect(third.child.exitCode).toBe(0);
  });
});
