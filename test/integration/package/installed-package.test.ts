/** What npm, pnpm and yarn install from the packed program, on this Node.js and on a newer one: what was tested, and what its bill of materials says. */
import { execFileSync, spawnSync, type SpawnSyncReturns } from 'node:child_process';
import {
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
import { dirname, join, normalize } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memory } from '../../support/memory.ts';
import { folderPrefix, packageRoot, temporaryFolder } from '../../support/mirror-file.ts';
import { isMissing } from '../../support/needed.ts';
import { install, missingPackages } from '../../support/registry.ts';
import { build } from '../../support/testbed/build.ts';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly scripts: object;
  readonly dependencies: object;
  readonly bundleDependencies: readonly string[];
}

interface Bill {
  readonly components: readonly {
    readonly name: string;
    readonly version: string;
    readonly properties: readonly { readonly value: string }[];
  }[];
}

const read = (...path: readonly string[]): unknown => JSON.parse(readFileSync(join(...path), 'utf8'));
const named = ({ name, version }: { readonly name: string; readonly version: string }): string => `${name}@${version}`;

/** Every package in a folder `node_modules`, and in those within. */
function packagesIn(modules: string): string[] {
  const names = readdirSync(modules)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) =>
      name.startsWith('@') ? readdirSync(join(modules, name)).map((part) => join(name, part)) : name,
    );
  return names.flatMap((name) => {
    const folder = join(modules, name);
    const within = readdirSync(folder).includes('node_modules') ? packagesIn(join(folder, 'node_modules')) : [];
    return [named(read(folder, 'package.json') as Manifest), ...within];
  });
}

const tools = ['pnpm@9', 'yarn@1'];

/** How each of them installs a file, running nothing of it; yarn 1 looks at the engines of packages that it does not need. */
const managers: [name: string, args: (file: string) => string[]][] = [
  ['npm', (file) => ['install', '--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts', file]],
  ['pnpm', (file) => ['add', '--prefer-offline', '--ignore-scripts', file]],
  ['yarn', (file) => ['add', '--prefer-offline', '--ignore-scripts', '--ignore-engines', `file:${file}`]],
];

const newer = spawnSync('sh', ['-c', 'command -v node-newer'], { encoding: 'utf8' }).stdout.trim();
const ownMajor = Number.parseInt(process.versions.node, 10);

const nodes: [name: string, node: string][] = [
  [`Node.js ${ownMajor}`, process.execPath],
  ...(ownMajor < 22 ? [['a newer Node.js', newer] as [string, string]] : []),
];

const consumer = `
import { openMirror, type Mirror } from 'vendor-mirror';
const mirror: Mirror = await openMirror('data/vendors.db');
// @ts-expect-error: there is no such state
await mirror.vendors({ state: 'broken' });
`;

describe('L60 the packed program', () => {
  const shared = mkdtempSync(join(memory, folderPrefix));
  let packed = '';

  beforeAll(() => {
    build();
    execFileSync(process.execPath, ['.config/third-party.js'], { cwd: packageRoot });
    const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', shared];
    packed = join(shared, execFileSync('npm', args, { cwd: packageRoot, encoding: 'utf8' }).trim());
  });
  afterAll(() => rmSync(shared, { recursive: true }));

  describe.skipIf(isMissing(missingPackages(...tools)))('installed elsewhere', () => {
    beforeAll(() => install(shared, ...tools));

    describe.each(nodes)('on %s', (_, node) => {
      const isNewer = node !== process.execPath || ownMajor >= 22;

      it.skipIf(isMissing(node === '' ? 'there is no node-newer' : undefined)).each(managers)(
        'by %s has the packages of its bill of materials, and no other, and runs where there is a driver for it',
        (manager, args) => {
          const folder = temporaryFolder();
          mkdirSync(join(folder, 'bin'));
          symlinkSync(realpathSync(node), join(folder, 'bin/node'));
          const path = [join(folder, 'bin'), join(shared, 'node_modules/.bin'), String(process.env['PATH'])];
          const start = (command: string, ...argv: readonly string[]): SpawnSyncReturns<string> =>
            spawnSync(command, argv, { cwd: folder, encoding: 'utf8', env: { ...process.env, PATH: path.join(':') } });
          const run = (command: string, ...argv: readonly string[]): string => {
            const { status, stdout, stderr } = start(command, ...argv);
            expect([status, status === 0 ? '' : stderr + stdout], command).toEqual([0, '']);
            return stdout.trim();
          };
          writeFileSync(join(folder, 'package.json'), '{"type": "module", "private": true}');
          run(manager, ...args(packed));

          const itself = realpathSync(join(folder, 'node_modules/vendor-mirror'));
          const bill = (read(itself, 'dist/sbom.json') as Bill).components;
          const isDriver = ({ properties }: Bill['components'][number]): boolean =>
            properties[0]!.value.includes(' (Node');
          const isCompiledIn = ({ properties }: Bill['components'][number]): boolean =>
            properties[0]!.value.startsWith('compiled');
          expect(packagesIn(join(itself, 'node_modules')).sort()).toEqual(
            bill
              .filter((component) => !isDriver(component) && !isCompiledIn(component))
              .map(named)
              .sort(),
          );

          const program = join(folder, 'node_modules/.bin/vendor-mirror');
          expect(run(program, '--version')).toBe((read(itself, 'package.json') as Manifest).version);
          const synced = start(program, 'sync', '--sandbox');
          if (manager === 'npm' || isNewer) {
            const driver = createRequire(join(itself, 'package.json')).resolve('better-sqlite3/package.json');
            expect(bill.map(named)).toContain(named(read(driver) as Manifest));
          }
          if (isNewer) {
            expect([synced.status, synced.stderr]).toEqual([0, '']);
            const count = ['export', '-', '--sandbox', '--query', 'select count(*) as vendors from vendors'];
            expect(run(program, ...count)).toMatch(/^vendors\r\n2\d\d$/);
          } else {
            // Version 12 is compiled by its install script, which was not run here; pnpm and yarn leave it out.
            const remedy = manager === 'npm' ? 'npm rebuild better-sqlite3' : 'Install the packages again with npm';
            expect([synced.status, synced.stderr]).toEqual([74, expect.stringContaining(remedy)]);
          }

          const list = `console.log(Object.keys(await import('vendor-mirror')).sort().join())`;
          expect(run('node', '--input-type=module', '-e', list)).toBe('ReaderError,openMirror');
          writeFileSync(join(folder, 'consumer.ts'), consumer);
          const tsc = join(packageRoot, 'node_modules/typescript/bin/tsc');
          const options = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext'];
          run('node', tsc, ...options, 'consumer.ts');
        },
      );
    });
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
