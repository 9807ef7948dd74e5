/** What is installed with the program: as little as can be, each piece known by its checksum. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from './support/mirror-file.ts';
import { build } from './support/testbed/build.ts';

interface Locked {
  readonly integrity?: string;
  readonly resolved?: string;
  readonly hasInstallScript?: boolean;
  readonly gypfile?: boolean;
  readonly version: string;
  readonly dev?: boolean;
  readonly link?: boolean;
}

const read = (name: string): unknown => JSON.parse(readFileSync(join(packageRoot, name), 'utf8'));

const manifest = read('package.json') as Record<'dependencies' | 'optionalDependencies' | 'devDependencies', object> & {
  allowScripts: object;
};
const { '': root, ...locked } = (read('package-lock.json') as { packages: Record<string, Locked> }).packages;

describe('H12 the lock file', () => {
  it('is of this manifest', () => {
    expect(root).toMatchObject({
      dependencies: manifest.dependencies,
      optionalDependencies: manifest.optionalDependencies,
      devDependencies: manifest.devDependencies,
    });
  });

  it('has a checksum for every package, and takes packages only from a registry', () => {
    const odd = Object.entries(locked).filter(
      ([, { integrity, resolved, link }]) =>
        !integrity?.startsWith('sha512-') ||
        link === true ||
        (resolved !== undefined && !resolved.startsWith('https://registry.npmjs.org/')),
    );
    expect(odd.map(([path]) => path)).toEqual([]);
    const { dependencies, optionalDependencies, devDependencies } = manifest;
    const ranges = Object.entries<string>({ ...dependencies, ...optionalDependencies, ...devDependencies }).flatMap(
      ([name, range]) => range.split(' || ').map((part) => [name, part] as const),
    );
    expect(
      ranges.filter(([, range]) => !/^(npm:better-sqlite3@)?([~^]?\d+\.\d+\.\d+|\d+\.\d+\.\d+-[\w.]+)$/.test(range)),
    ).toEqual([]);
  });

  it('allows no install script at all', () => {
    const scripted = Object.entries(locked).filter(([, { hasInstallScript }]) => hasInstallScript === true);
    expect(scripted.map(([path]) => path)).toEqual([]);
    expect(Object.entries(manifest.allowScripts).filter(([, may]) => may !== false)).toEqual([]);
  });

  it('L30 holds one SQLite driver that comes compiled, and one for Node.js 20; npm compiles neither', () => {
    const drivers = Object.entries(locked).filter(([path]) => path.startsWith('node_modules/better-sqlite3'));
    expect(drivers.map(([path, { version, gypfile }]) => [path, version.split('.')[0], gypfile])).toEqual([
      ['node_modules/better-sqlite3', '13', false],
      ['node_modules/better-sqlite3-node20', '12', false],
    ]);
  });
});

describe('H12 the compiled program', () => {
  let compiledIn = new Set<string | undefined>();

  beforeAll(() => {
    build();
    const folders = ['dist/cmd', 'dist/reader'].map((folder) => join(packageRoot, folder));
    const compiled = folders.flatMap((folder) =>
      readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8')),
    );
    compiledIn = new Set(
      compiled.flatMap((text) =>
        [...text.matchAll(/^\/\/ node_modules\/((?:@[^/]+\/)?[^/]+)/gm)].map(([, name]) => name),
      ),
    );
  });

  it('loads what npm installs from where npm put it, and holds a copy of nothing that is installed', () => {
    expect([...compiledIn].sort()).toEqual(['kysely', 'yaml', 'zod']);
    expect([...compiledIn].filter((name) => name !== undefined && name in manifest.dependencies)).toEqual([]);
  });

  it('loads the driver of PostgreSQL only where rows are published to one', () => {
    const files = readdirSync(join(packageRoot, 'dist/cmd'));
    const texts = files.map((file) => readFileSync(join(packageRoot, 'dist/cmd', file), 'utf8'));
    expect(texts.filter((text) => /import\(['"]pg['"]\)/.test(text))).toHaveLength(1);
    expect(texts.filter((text) => /\bfrom ?['"]pg['"]|^import ['"]pg['"]/m.test(text))).toEqual([]);
  });

  it('comes with the licences and a bill of materials of all that runs', () => {
    const { status, stderr } = spawnSync(process.execPath, ['.config/third-party.js'], {
      cwd: packageRoot,
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, '']);
    const licences = readFileSync(join(packageRoot, 'dist/THIRD-PARTY-LICENCES.txt'), 'utf8');
    const { components } = read('dist/sbom.json') as { components: { name: string }[] };
    const names = new Set(components.map(({ name }) => name));
    for (const name of [...Object.keys(manifest.dependencies), 'better-sqlite3', 'prebuild-install', ...compiledIn]) {
      expect(names).toContain(name);
      expect(licences).toContain(`\n${name} `);
    }
    const [, ...texts] = licences.split(/^-{80}\n(?=\S+ \d)/m);
    expect(texts).toHaveLength(components.length);
    const withoutText = texts.filter((text) => !/permission|redistribut|free software|public domain/i.test(text));
    expect(withoutText).toEqual([]);
    expect(texts.find((text) => text.startsWith('standardwebhooks '))).toContain('Copyright (c) 2023 Svix');
    const drivers = texts.filter((text) => text.startsWith('better-sqlite3 ')).map((text) => text.split('\n', 1)[0]);
    expect(drivers).toEqual([
      expect.stringMatching(/^better-sqlite3 13\..*\(Node\.js 22 and newer\)$/),
      expect.stringMatching(/^better-sqlite3 12\..*\(Node\.js 20\)$/),
    ]);
  });

  it('contains the program, documents, configuration, licences and the bill of materials, and nothing else', () => {
    const { stdout } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: packageRoot,
      encoding: 'utf8',
    });
    const [packed] = JSON.parse(stdout) as [{ files: { path: string }[] }];
    // The packages that it brings along: test/integration/package/installed-package.test.ts.
    const paths = packed.files.map(({ path }) => path).filter((path) => !path.startsWith('node_modules/'));
    expect(paths).toEqual(
      expect.arrayContaining([
        'LICENSE',
        'README.md',
        'CHANGELOG.md',
        'dist/cmd/main.js',
        'dist/reader/index.js',
        'dist/reader/index.d.ts',
        'dist/page/page.js',
        'dist/sbom.json',
        'dist/THIRD-PARTY-LICENCES.txt',
        'config/default.yaml',
        'src/sandbox/README.md',
        'config/sandbox.yaml',
        'config/systemd/vendor-mirror.service',
        'migrations/mirror/0001_mirror.sql',
        'migrations/postgres/0001_mirror.sql',
        'migrations/postgres-sink/0001_sink.sql',
        'migrations/secrets/0001_secrets.sql',
      ]),
    );
    const allowed =
      /^(dist|migrations|config)\/|^(package\.json|LICENSE|(src\/|src\/sandbox\/|test\/)?README\.md|(CHANGELOG|CONTRIBUTING|test\/HAZARDS)\.md)$/;
    // A part of the program may be named after its file, as `oauth-tokens.js`; a file that holds tokens is none.
    const stray = /\.(test|spec)\.|\.map$|\.db(-|$)|token(?![\w-]*\.js$)/;
    expect(paths.filter((path) => !allowed.test(path) || stray.test(path))).toEqual([]);
  });
});
