/** The package as another program installs it: packed, unpacked, imported, and its types checked. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { driverFolder } from '../../../src/store/sqlite/driver-package.ts';
import { memory } from '../../support/memory.ts';
import {
  folderPrefix,
  packageRoot,
  span,
  temporaryFolder,
  vendor,
  version,
  writeMirror,
} from '../../support/mirror-file.ts';
import { build } from '../../support/testbed/build.ts';

/** The driver of this Node.js, by the name that npm gives it in a package. */
const fitting = (modules: string): void => symlinkSync(driverFolder, join(modules, 'better-sqlite3'));

const shared = mkdtempSync(join(memory, folderPrefix));
let packed = '';

beforeAll(() => {
  build();
  const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', shared];
  packed = join(shared, execFileSync('npm', args, { cwd: packageRoot, encoding: 'utf8' }).trim());
});
afterAll(() => rmSync(shared, { recursive: true }));

/** A folder in which the package is installed, with a mirror of two vendors in `data/vendors.db`. */
async function installed(installDriver = fitting): Promise<string> {
  const folder = temporaryFolder();
  const modules = join(folder, 'node_modules');
  const itself = join(modules, 'vendor-mirror');
  mkdirSync(itself, { recursive: true });
  execFileSync('tar', ['-xzf', packed, '--strip-components=1', '-C', itself]);
  installDriver(modules);
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  mkdirSync(join(folder, 'data'));
  await writeMirror(join(folder, 'data/vendors.db'), systemClock, {
    vendors: [vendor(1, { vendor_name: 'Huber GmbH' }), vendor(2)],
    _balance_spans: [span(1, 'EUR', 1_250)],
    vendor_versions: [version(1, []), version(2, [])],
  });
  return folder;
}

function run(folder: string, ...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', env: { PATH: process.env['PATH'] } });
}

/** The example of the README. */
function example(): string {
  const readme = readFileSync(join(packageRoot, 'README.md'), 'utf8');
  return /## From a program\n\n```js\n(.*?)```/s.exec(readme)?.[1] ?? '';
}

const consumer = `
import { openMirror, ReaderError, type ListedVendor, type Mirror, type VendorChange } from 'vendor-mirror';

async function names(mirror: Mirror): Promise<string[]> {
  const found: ListedVendor[] = [];
  for await (const vendor of mirror.everyVendor({ state: 'all' })) found.push(vendor);
  return found.map(({ vendor_name }) => vendor_name ?? '');
}

export async function read(): Promise<readonly VendorChange[]> {
  const mirror = await openMirror('data/vendors.db', { lockWait: 100 });
  try {
    await names(mirror);
    const vendor = await mirror.vendor('6BApk', 1);
    const phone: string | null | undefined = vendor?.record.phone;
    const owed: number | null | undefined = (await mirror.payables({ currency: phone ?? 'EUR' }))[0]?.outstanding;
    await mirror.query('select ?', [owed ?? null]);
    const [fresh] = await mirror.freshness();
    const safe: string | null | undefined = fresh?.safe_as_of;
    return safe === null ? [] : (await mirror.changes()).changes;
  } catch (error) {
    if (error instanceof ReaderError && error.code === 'history_gone') return [];
    throw error;
  } finally {
    mirror.close();
  }
}
`;

const wrong = `
import { openMirror } from 'vendor-mirror';
const mirror = await openMirror('data/vendors.db');
await mirror.vendors({ state: 'broken' });
`;

describe('the package, installed elsewhere', () => {
  it('runs the example of the README', async () => {
    const { status, stdout, stderr } = run(await installed(), '--input-type=module', '-e', example());
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^1 Huber GmbH\n12\.5 2 [0-9a-f]{16}:2\n$/);
  });

  it('starts nothing when it is imported, and exports only what is documented', async () => {
    const list = `console.log(Object.keys(await import('vendor-mirror')).sort().join())`;
    const folder = await installed();
    const { status, stdout, stderr } = run(folder, '--input-type=module', '-e', list);
    // It ends without help: nothing listens or waits, and nothing was printed.
    expect([status, stdout, stderr]).toEqual([0, 'ReaderError,openMirror\n', '']);
    const inside = run(folder, '--input-type=module', '-e', `await import('vendor-mirror/dist/cmd/main.js')`);
    expect(inside.stderr).toContain('ERR_PACKAGE_PATH_NOT_EXPORTED');
  });

  describe('L30 without the driver of this Node.js', () => {
    /** A driver of another version, which would end the process. */
    const other = (modules: string): void => {
      const folder = join(modules, 'better-sqlite3');
      mkdirSync(folder);
      const version = Number.parseInt(process.versions.node, 10) < 22 ? '13.2.0' : '12.11.1';
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'better-sqlite3', version }));
      writeFileSync(join(folder, 'index.js'), 'process.abort();');
    };

    it.each([
      ['left out', () => undefined, /better-sqlite3 \d+, which is not installed/],
      ['another version', other, /better-sqlite3 \d+, and 1[23]\.\d+\.\d+ is installed/],
    ])('(%s) says so, and loads nothing', async (_, installDriver, sentence) => {
      const folder = await installed(installDriver);
      const command = run(folder, 'node_modules/vendor-mirror/dist/cmd/main.js', 'sync', '--sandbox', '--json');
      expect(command.status, command.stderr).toBe(74);
      expect(command.stderr).toMatch(sentence);
      expect(command.stderr).toContain('Install the packages again with npm');
      expect(JSON.parse(command.stdout)).toMatchObject({ ok: false, error: { code: 'driver_unusable' } });
      const open = `import('vendor-mirror').then(({ openMirror }) => openMirror('data/vendors.db')).catch(({ code }) => console.log(code))`;
      expect(run(folder, '-e', open)).toMatchObject({ status: 0, stdout: 'driver_unusable\n', stderr: '' });
    });
  });

  it('passes the type check of a strict program, which finds what is wrong', async () => {
    const folder = await installed();
    writeFileSync(join(folder, 'consumer.ts'), consumer);
    writeFileSync(join(folder, 'wrong.ts'), wrong);
    const tsc = join(packageRoot, 'node_modules/typescript/bin/tsc');
    const check = (file: string): ReturnType<typeof run> =>
      run(folder, tsc, '--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext', file);
    expect(check('consumer.ts').stdout).toBe('');
    expect(check('wrong.ts').stdout).toContain(`Type '"broken"' is not assignable`);
  });
});
