/** Exports, copies for readers and backups in a folder that another user may write, who replaces names there at any moment. */
import { execFileSync } from 'node:child_process';
import fs, {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { systemRandom } from '../../../src/domain/clock.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { openWorldFile } from '../../../src/sandbox/world-file.ts';
import { exportToFile } from '../../../src/store/export/write-export.ts';
import { takeSideLock } from '../../../src/store/files/locks.ts';
import { noteDamage } from '../../../src/store/files/own-files.ts';
import { exportSecrets } from '../../../src/store/secrets/sealed-backup.ts';
import { openSecrets } from '../../../src/store/secrets/secrets.ts';
import type { SqliteDatabase } from '../../../src/store/sqlite/database.ts';
import { Driver } from '../../../src/store/sqlite/driver-package.ts';
import { migrations, readMirror, temporaryFolder, vendor, writeMirror } from '../../support/mirror-file.ts';
import { isMissing } from '../../support/needed.ts';
import { replaceBuiltin } from '../../support/source/builtin.ts';
import { compiled } from '../../support/source/compiled.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const clock = virtualClock({ auto: true });
const refused = process.getuid?.() === 0 ? undefined : 'only root can make files of another user';
const stranger = 12_345;

let mirror: SqliteDatabase;
let own: { secrets: string; database: string; readFrom: string[] };
/** Everybody may write it, and enter all folders above. */
let open: string;
/** Must not change, whatever happens in the open folder. */
let valuable: string;
let before: unknown;

beforeEach(async () => {
  const folder = temporaryFolder();
  own = { secrets: join(folder, 'secrets.db'), database: join(folder, 'vendors.db'), readFrom: [] };
  await writeMirror(own.database, clock, { vendors: [vendor(1)] });
  mirror = readMirror(own.database, clock);
  const secrets = await openSecrets({
    path: own.secrets,
    migrations,
    clock,
    random: systemRandom,
  });
  await secrets.close();
  open = join(mkdtempSync(join(tmpdir(), 'open-')), 'shared');
  onTestFinished(() => rmSync(dirname(open), { recursive: true, force: true }));
  chmodSync(dirname(open), 0o755);
  mkdirSync(open);
  chmodSync(open, 0o777);
  valuable = join(folder, 'valuable');
  writeFileSync(valuable, 'of this user alone', { mode: 0o600 });
  before = stateOf(valuable);
});

function stateOf(path: string): unknown {
  const { mode, uid, gid, ino } = statSync(path);
  return { mode: mode & 0o7777, uid, gid, ino, content: readFileSync(path, 'utf8') };
}

/** Writes a file of each kind. */
async function write(target: string, random = systemRandom): Promise<void> {
  if (target.endsWith('.sealed')) {
    const passphrase = new Secret('correct horse battery');
    await exportSecrets(target, { own, passphrase, random, cost: 2 ** 10 });
  } else await exportToFile(mirror, target, {}, { own, program: compiled.exports, random });
}

const kinds = ['copy.csv', 'copy.db', 'backup.sealed'];

/** What a program does with files, one step at a time. */
const steps = [
  ...(['openSync', 'closeSync', 'statSync', 'lstatSync', 'fstatSync', 'existsSync', 'readdirSync'] as const),
  ...(['fsync', 'fsyncSync', 'renameSync', 'rmSync', 'chmodSync', 'chownSync', 'fchmodSync', 'fchownSync'] as const),
];

/** Calls `onStep` before each step since there is a draft, but not for steps of its own. */
function watchSteps(onStep: (name: string) => void): void {
  watchEvery((name) => {
    if (draftNames().length > 0) onStep(name);
  });
}

/** Calls `onStep` before each step, but not for steps of its own. */
function watchEvery(onStep: (name: string) => void): void {
  let isInside = false;
  const step = (name: string): void => {
    if (isInside) return;
    isInside = true;
    onStep(name);
    isInside = false;
  };
  for (const name of steps)
    replaceBuiltin(fs, name, (original) => {
      const watched = (...args: never[]): unknown => {
        step(name);
        return (original as (...all: never[]) => unknown)(...args);
      };
      return watched as never;
    });
}

function draftNames(): string[] {
  return readdirSync(open).filter((name) => name.startsWith('.') && lstatSync(join(open, name)).isFile());
}

/** Puts a link to what is valuable in the place of each draft. */
function swapDrafts(): void {
  for (const name of draftNames()) {
    renameSync(join(open, name), join(open, `taken-${name.slice(1)}`));
    symlinkSync(valuable, join(open, name));
  }
}

describe.each(kinds)('L51 in a folder of others, a %s', (kind) => {
  it('changes nothing elsewhere where a link is in the place of its draft when it gets its mode', async () => {
    const target = join(open, kind);
    await write(target);
    chmodSync(target, 0o666);
    watchSteps((name) => {
      if (/chmod|chown/.test(name)) swapDrafts();
    });
    await write(target).catch(() => undefined);
    expect(stateOf(valuable)).toEqual(before);
  });

  it('is refused where its draft was replaced at the end, and the target stays', async () => {
    const target = join(open, kind);
    let sealed = true;
    replaceBuiltin(fs, 'fsync', (sync) => {
      const noted = (handle: number, callback: fs.NoParamCallback): void =>
        sync(handle, (error) => {
          if (sealed) swapDrafts();
          sealed = false;
          callback(error);
        });
      return noted as typeof sync;
    });
    await expect(write(target)).rejects.toMatchObject({
      code: 'file_unwritable',
      message: expect.stringContaining('another user put something else in the place of') as string,
    });
    expect(lstatSync(target, { throwIfNoEntry: false })).toBeUndefined();
    expect(stateOf(valuable)).toEqual(before);
  });

  it.skipIf(isMissing(refused))('takes neither mode nor owner from a file that another made first', async () => {
    const target = join(open, kind);
    await write(target);
    chmodSync(target, 0o666);
    chownSync(target, stranger, stranger);
    await write(target);
    const { uid, mode } = statSync(target);
    await write(join(open, `new-${kind}`));
    expect([uid, mode]).toEqual([0, statSync(join(open, `new-${kind}`)).mode]);
    expect(mode & 0o007).toBe(0);
  });

  it('takes no mode from a file that has a second name', async () => {
    const target = join(open, kind);
    await write(target);
    chmodSync(target, 0o666);
    linkSync(target, join(open, 'second'));
    await write(target);
    expect(statSync(target).mode & 0o007).toBe(0);
  });

  it.skipIf(isMissing(refused))('follows no link that another made, and one of this user', async () => {
    const target = join(open, kind);
    await write(join(open, `other-${kind}`));
    const there = stateOf(join(open, `other-${kind}`));
    symlinkSync(`other-${kind}`, target);
    fs.lchownSync(target, stranger, stranger);
    await expect(write(target)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining(`is a link that uid ${stranger} made`) as string,
      hint: 'Name the file itself, in a folder that only this user may write.',
    });
    expect(stateOf(join(open, `other-${kind}`))).toEqual(there);
    fs.lchownSync(target, 0, 0);
    await write(target);
    expect(readlinkSync(target)).toBe(`other-${kind}`);
    expect(stateOf(join(open, `other-${kind}`))).not.toEqual(there);
  });

  it.skipIf(isMissing(refused)).each(['its folder', 'one above'])(
    'follows no link that another made for %s',
    async (which) => {
      const elsewhere = temporaryFolder();
      mkdirSync(join(elsewhere, 'within'));
      const link = join(open, 'link');
      symlinkSync(which === 'its folder' ? join(elsewhere, 'within') : elsewhere, link);
      const target = which === 'its folder' ? join(link, kind) : join(link, 'within', kind);
      await write(target);
      const there = stateOf(join(elsewhere, 'within', kind));
      fs.lchownSync(link, stranger, stranger);
      await expect(write(target)).rejects.toMatchObject({
        code: 'usage',
        message: expect.stringContaining(`${link} is a link that uid ${stranger} made`) as string,
      });
      expect(stateOf(join(elsewhere, 'within', kind))).toEqual(there);
      expect(readdirSync(join(elsewhere, 'within'))).toEqual([kind]);
    },
  );

  it.skipIf(isMissing(refused))(
    'changes nothing elsewhere, at whatever moment a link is put in the place of its folder',
    async () => {
      const [elsewhere, folder] = [temporaryFolder(), join(open, 'folder')];
      writeFileSync(join(elsewhere, kind), 'of this user alone', { mode: 0o600 });
      const there = stateOf(join(elsewhere, kind));
      let [count, nth] = [0, -1];
      watchEvery(() => {
        if (count++ !== nth) return;
        renameSync(folder, join(open, 'aside'));
        symlinkSync(elsewhere, folder);
        fs.lchownSync(folder, stranger, stranger);
      });
      do {
        for (const name of readdirSync(open)) rmSync(join(open, name), { recursive: true });
        mkdirSync(folder);
        [count, nth] = [0, nth + 1];
        await write(join(folder, kind)).catch(() => undefined);
        expect(stateOf(join(elsewhere, kind)), `step ${nth}`).toEqual(there);
      } while (count > nth);
      expect(nth).toBeGreaterThan(8);
    },
  );

  it.skipIf(isMissing(refused))('leaves what another left there under the name of a draft', async () => {
    const names = ['0123456789ab', 'ba9876543210'].map((draft) => join(open, `.${kind}.${draft}`));
    writeFileSync(names[0] ?? '', 'not ours');
    mkdirSync(names[1] ?? '');
    for (const path of names) {
      fs.utimesSync(path, 1, 1);
      chownSync(path, stranger, stranger);
    }
    await write(join(open, kind));
    expect(readdirSync(open).sort()).toEqual([...names.map((path) => basename(path)), kind].sort());
  });
});

it.each(['a file', 'nothing yet'])(
  'L51 a link to %s that stands under the name of a draft is not followed',
  async (what) => {
    const random = { bytes: (count: number) => new Uint8Array(count) };
    const goal = what === 'a file' ? valuable : join(dirname(valuable), 'made');
    for (const kind of ['copy.csv', 'backup.sealed']) {
      symlinkSync(goal, join(open, `.${kind}.000000000000`));
      await expect(write(join(open, kind), { ...systemRandom, ...random })).rejects.toMatchObject({
        code: 'file_unwritable',
        message: expect.stringContaining('EEXIST') as string,
      });
      expect(lstatSync(join(open, kind), { throwIfNoEntry: false })).toBeUndefined();
    }
    expect(stateOf(valuable)).toEqual(before);
    expect(readdirSync(dirname(valuable))).not.toContain('made');
  },
);

it.each(['copy.csv', 'copy.db'])(
  'L51 a pipe that another puts in the place of %s after it was looked at is not waited for',
  async (kind) => {
    const target = join(open, kind);
    await write(target);
    replaceBuiltin(fs, 'existsSync', (original) => (path) => {
      const isThere = original(path);
      if (path === target && lstatSync(target).isFile()) {
        rmSync(target);
        execFileSync('mkfifo', [target]);
      }
      return isThere;
    });
    replaceBuiltin(fs, 'openSync', (original) => (path, flags, ...more) => {
      const waits = (Number(flags) & fs.constants.O_NONBLOCK) === 0;
      if (path === target && waits) throw new Error('It waits for ever.');
      return original(path, flags, ...more);
    });
    await expect(write(target)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('is not a regular file') as string,
    });
    expect(lstatSync(target).isFIFO()).toBe(true);
  },
);

it.each(kinds)('L51 a folder that another puts in the place of an old draft of %s is not emptied', async (kind) => {
  const old = join(open, `.${kind}.0123456789ab`);
  writeFileSync(old, 'half');
  fs.utimesSync(old, 1, 1);
  let left: unknown;
  replaceBuiltin(fs, 'lstatSync', (original) => {
    const swapping = (path: fs.PathLike, ...more: never[]): unknown => {
      const found: unknown = (original as (...all: unknown[]) => unknown)(path, ...more);
      if (path === old && left === undefined) {
        left = found;
        rmSync(old);
        mkdirSync(old);
        writeFileSync(join(old, 'kept'), 'not ours');
      }
      return found;
    };
    return swapping as typeof original;
  });
  await write(join(open, kind)).catch(() => undefined);
  expect(left).toBeDefined();
  expect(readFileSync(join(old, 'kept'), 'utf8')).toBe('not ours');
});

it.each(['400', '644', '666'])(
  'L51 a backup that replaces one of mode %s can be read by its owner alone',
  async (mode) => {
    const target = join(temporaryFolder(), 'backup.sealed');
    await write(target);
    chmodSync(target, mode);
    await write(target);
    expect(statSync(target).mode & 0o777).toBe(0o600);
  },
);

it('L51 a backup changes nothing elsewhere, at whatever moment a link is put in the place of its draft', async () => {
  const target = join(open, 'backup.sealed');
  let [count, nth] = [0, -1];
  watchSteps(() => {
    if (count++ === nth) swapDrafts();
  });
  do {
    for (const name of readdirSync(open)) rmSync(join(open, name), { recursive: true });
    [count, nth] = [0, nth + 1];
    await write(target).catch(() => undefined);
    expect(stateOf(valuable), `step ${nth}`).toEqual(before);
  } while (count > nth);
  expect(nth).toBeGreaterThan(8);
});

describe('L51 a copy of the mirror', () => {
  /** Where SQLite wrote it: what the program opened, with the owner and modes of its folder and of the one above. */
  async function drafts(target: string): Promise<{ parent: string; mode: number; above: string }[]> {
    const found: { parent: string; mode: number; above: string }[] = [];
    replaceBuiltin(fs, 'openSync', (original) => (path, ...more) => {
      const parent = dirname(String(path));
      if (basename(String(path)) === 'draft')
        found.push({ parent, mode: statSync(parent).mode & 0o777, above: dirname(parent) });
      return original(path, ...more);
    });
    await write(target);
    return found;
  }

  it('is made in a private folder beside its target, or in that of temporary files where others could replace it', async () => {
    const closed = temporaryFolder();
    expect(await drafts(join(closed, 'copy.db'))).toMatchObject([{ mode: 0o700, above: closed }]);
    expect(await drafts(join(open, 'copy.db'))).toMatchObject([{ mode: 0o700, above: tmpdir() }]);
    for (const folder of [closed, open]) expect(readdirSync(folder)).toEqual(['copy.db']);
    const copy = new Driver(join(open, 'copy.db'), { readonly: true });
    onTestFinished(() => void copy.close());
    expect(copy.prepare('SELECT count(*) FROM vendors').pluck().get()).toBe(1);
  });

  /** Whether a copy beside such a file is refused with this message, and both stay as they are. */
  async function isRefusedBeside(other: string, reason: string, prepare = (): void => undefined): Promise<void> {
    const target = join(open, 'copy.db');
    await write(target);
    const there = stateOf(target);
    writeFileSync(target + other, 'there before');
    prepare();
    await expect(write(target)).rejects.toMatchObject({
      code: 'file_unwritable',
      message: expect.stringContaining(reason) as string,
    });
    expect([stateOf(target), readFileSync(target + other, 'utf8')]).toEqual([there, 'there before']);
  }

  it.skipIf(isMissing(refused)).each(['-wal', '-journal'])(
    'is not written beside a %s of another user, which stays',
    async (suffix) => {
      const path = join(open, 'copy.db') + suffix;
      await isRefusedBeside(suffix, `${path} is of another user`, () => chownSync(path, stranger, stranger));
    },
  );

  it.each(['-wal', '-journal'])(
    'is not opened by its name to remove a %s where others could put a link in its place',
    (suffix) => isRefusedBeside(suffix, 'SQLite would have to open it by its name'),
  );

  it('leaves what stands beside a .csv: it is of no database', async () => {
    writeFileSync(join(open, 'copy.csv-wal'), 'of another program');
    await write(join(open, 'copy.csv'));
    expect(readFileSync(join(open, 'copy.csv-wal'), 'utf8')).toBe('of another program');
  });
});

/** What stands under fixed names beside a mirror or a world. */
const beside: [name: string, make: (path: string) => unknown][] = [
  ['.draft', (path) => openWorldFile(path, 'seed').close()],
  ['.damaged', (path) => noteDamage(path)],
  ['.lock', (path) => takeSideLock(path, clock.now()).release()],
];

describe.each(beside)('L51 a link that another puts beside a file as %s', (suffix, make) => {
  it.each(['a file', 'nothing yet'])('and that leads to %s, changes nothing elsewhere', (what) => {
    chmodSync(valuable, 0o640);
    before = stateOf(valuable);
    const goal = what === 'a file' ? valuable : join(dirname(valuable), 'made');
    const path = join(open, 'file');
    symlinkSync(goal, path + suffix);
    try {
      make(path);
    } catch (error) {
      expect(error).toMatchObject({ message: expect.stringContaining(`${path}${suffix} is a link`) as string });
    }
    expect(stateOf(valuable)).toEqual(before);
    expect(readdirSync(dirname(valuable))).not.toContain('made');
  });
});

it.skipIf(isMissing(refused)).each<[what: string, put: (path: string, line: Testbed<'command'>) => void]>([
  ['a link to the mirror', (path, line) => symlinkSync(line.database, path)],
  ['a link to the secrets', (path, line) => symlinkSync(join(line.folder, 'secrets.db'), path)],
  ['a link to a folder', (path, line) => symlinkSync(line.folder, path)],
  ['a folder', (path) => mkdirSync(path)],
])('L51 %s that another put in the place of a published copy stops no command', async (_, put) => {
  const line = await testbed({ level: 'command', service: { vendors: 1 } });
  await line.run('sync', '--account', '6BApk');
  const path = join(open, 'copy.db');
  writeFileSync(line.settings, `${readFileSync(line.settings, 'utf8')}\npublish: [{ path: ${path} }]\n`);
  put(path, line);
  expect((await line.run('vendors', 'list')).status).toBe(78);
  fs.lchownSync(path, stranger, stranger);
  expect((await line.run('vendors', 'list')).status).toBe(0);
  expect((await line.run('sync', '--account', '6BApk')).status).toBe(0);
});

it.each(['copy.csv', 'copy.db'])(
  'L51 an export that another takes away once it is written says so: %s',
  async (kind) => {
    const line = await testbed({ level: 'command', service: { vendors: 1 } });
    await line.run('sync', '--account', '6BApk');
    const target = join(open, kind);
    replaceBuiltin(fs, 'renameSync', (original) => (from, to) => {
      original(from, to);
      if (to === target) original(target, `${target}.taken`);
    });
    expect(await line.run('export', target)).toMatchObject({
      status: 74,
      stderr: expect.stringContaining(
        `${target} was written, and then taken away by another user or program.`,
      ) as string,
    });
  },
);

it('L51 doctor names folders of copies in which others may replace them', async () => {
  const line = await testbed({ level: 'command', service: { vendors: 1 } });
  await line.run('sync', '--account', '6BApk');
  const settings = readFileSync(line.settings, 'utf8');
  const publish = (path: string): void =>
    writeFileSync(line.settings, `${settings}\npublish: [{ path: ${path}, when: "0 3 * * *" }]\n`);
  publish(join(open, 'copy.db'));
  expect((await line.run('doctor', '--account', '6BApk')).stdout).toContain(
    `Others may put something else in the place of copies in ${open}: others may write ${open}.`,
  );
  publish(join(line.folder, 'copy.db'));
  expect((await line.run('doctor', '--account', '6BApk')).stdout).not.toContain('Others may put');
});

it.each(['database', 'secrets'] as const)(
  'L59 doctor names the folder of %s in which others may replace it',
  async (which) => {
    const line = await testbed({ level: 'command', service: { vendors: 1 } });
    const settings = readFileSync(line.settings, 'utf8');
    const place = (folder: string): void =>
      writeFileSync(
        line.settings,
        settings.replace(new RegExp(`^${which}: .*$`, 'm'), `${which}: ${join(folder, 'x.db')}`),
      );
    const doctor = async (): Promise<string> => (await line.run('doctor', '--account', '6BApk')).stdout;
    const inner = join(open, 'inner');
    mkdirSync(inner);
    for (const [folder, mode, why] of [
      [open, 0o777, `others may write ${open}`],
      [open, 0o775, `others may write ${open}`],
      [inner, 0o777, `others may write ${open}`],
    ] as const) {
      chmodSync(open, mode);
      place(folder);
      expect(await doctor()).toContain(`may put something else in the place of ${join(folder, 'x.db')}: ${why}.`);
    }
    for (const mode of [0o755, 0o1777]) {
      chmodSync(open, mode);
      place(inner);
      expect(await doctor()).not.toContain('may put something else');
    }
  },
);
