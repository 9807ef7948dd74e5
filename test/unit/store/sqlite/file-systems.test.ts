import {
  fileClock,
  migrations,
  newPath,
  openDatabase,
  openingError,
  otherConnection,
  packageRoot,
  temporaryFolder,
} from '../../../support/mirror-file.ts';
import { isMissing } from '../../../support/needed.ts';
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import type * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemRandom } from '../../../../src/domain/clock.ts';
import { SqliteError } from '../../../../src/store/sqlite/driver.ts';
import { openSecrets } from '../../../../src/store/secrets/secrets.ts';
import { catalogued } from '../../../../src/store/sqlite/sqlite-errors.ts';
import { doubtfulFileSystem, noSpaceForDelivery, prepareFile } from '../../../../src/store/sqlite/file-systems.ts';

/** What `statfs` says of every path; no test can mount a file system. */
const kind = vi.hoisted((): { type: number; bavail?: number; bfree?: number } => ({ type: 0 }));
vi.mock('node:fs', async (original) => {
  const real = await original<typeof fs>();
  return { ...real, statfsSync: (path: string) => Object.assign(real.statfsSync(path), kind) };
});

describe('the file system of the mirror', () => {
  it.each([
    ['NFS', 0x6969],
    ['CIFS', 0xff534d42],
    ['CIFS', 0xff534d42 | 0],
    ['SMB 2', 0xfe534d42],
    ['9p', 0x01021997],
    ['vboxsf', 0x786f4256],
    ['Ceph', 0x00c36400],
    ['AFS', 0x5346414f],
    ['Lustre', 0x0bd00bd3],
  ])('F13 L32 %s (%i) is refused, because its locks do not work', async (name, type) => {
    kind.type = type;
    expect(await openingError(newPath())).toMatchObject({
      code: 'database_unusable',
      message: expect.stringContaining(`(${name})`) as string,
      hint: expect.stringContaining('named volume') as string,
    });
  });

  it.each([
    ['ext4', 0xef53],
    ['xfs', 0x58465342],
    ['btrfs', 0x9123683e],
    ['tmpfs', 0x01021994],
    ['overlay', 0x794c7630],
    ['apfs', 0x1a],
  ])('F13 %s is accepted', async (_, type) => {
    kind.type = type;
    expect(await openingError(newPath())).toBe('opened');
  });
});

it('K19 a disk with less than four megabytes is reported, because a delivery may find no space', () => {
  expect(noSpaceForDelivery(4 * 1024 ** 2)).toBeUndefined();
  expect(noSpaceForDelivery(4_096)).toMatchObject({
    code: 'disk_full',
    message: 'The disk that holds the mirror is full: 4096 bytes are free.',
  });
});

it('L32 FUSE and virtiofs are doubtful, since what is behind them is not known; other file systems are not', () => {
  kind.type = 0x65735546;
  expect(doubtfulFileSystem('/')).toContain('must not open the file');
  kind.type = 0xef53;
  expect(doubtfulFileSystem('/')).toBeUndefined();
});

it.each(['SQLITE_IOERR_SHMMAP', 'SQLITE_IOERR_SHMOPEN', 'SQLITE_IOERR_SHMLOCK'])(
  'L32 where the file system gives no shared memory (%s), the remedy is another place',
  (code) => {
    expect(catalogued(new SqliteError('disk I/O error', code), '/data/vendors.db')).toMatchObject({
      code: 'database_unusable',
      hint: expect.stringContaining('named volume') as string,
    });
  },
);

it.each(['SQLITE_IOERR_SHMSIZE', 'SQLITE_IOERR_WRITE', 'SQLITE_FULL'])(
  'L44 %s on a full disk is a full disk',
  (code) => {
    kind.bavail = 0;
    const error = catalogued(new SqliteError('disk I/O error', code), join(temporaryFolder(), 'vendors.db'));
    delete kind.bavail;
    expect(error).toMatchObject({ code: 'disk_full', message: expect.stringContaining('the disk is full') as string });
  },
);

describe('L44 a disk without room for the index of a journal', () => {
  /** A mirror at rest, and a disk that has nothing free. */
  async function onFullDisk(): Promise<string> {
    const path = newPath();
    await (await openDatabase(path)).close();
    Object.assign(kind, { bavail: 0, bfree: 0 });
    onTestFinished(() => {
      delete kind.bavail;
      delete kind.bfree;
    });
    return path;
  }

  it('refuses to open an idle file to write, before SQLite makes anything beside it', async () => {
    const path = await onFullDisk();
    const other = otherConnection(path);
    expect(await openingError(path)).toMatchObject({
      code: 'disk_full',
      message: `${path}: the disk is full (0 bytes are free).`,
    });
    expect([`${path}-wal`, `${path}-shm`].filter((beside) => existsSync(beside))).toEqual([]);
    expect(other.prepare('SELECT count(*) FROM mirror_identity').pluck().get()).toBe(1);
  });

  it('lets a file be opened that another process writes, because its index is there', async () => {
    const path = await onFullDisk();
    const other = otherConnection(path);
    other.pragma('journal_mode = WAL');
    other.prepare('SELECT count(*) FROM mirror_identity').get();
    expect(await openingError(path)).toBe('opened');
  });
});

it('L32 a secrets file is refused there as well', async () => {
  kind.type = 0x01021997;
  const path = newPath();
  await expect(openSecrets({ path, clock: fileClock, migrations, random: systemRandom })).rejects.toMatchObject({
    code: 'database_unusable',
  });
});

it('a folder that cannot be made is refused, and not tried for ever', () => {
  expect(() => prepareFile('/proc/vendor-mirror/below/vendors.db', 0o600)).toThrow();
});

const missing = spawnSync('unshare', ['-m', 'true']).status === 0 ? undefined : 'nothing can be mounted';

it.skipIf(isMissing(missing))(
  'L108 a file that is mounted by itself is refused: its journal would lie elsewhere',
  () => {
    const folder = temporaryFolder();
    for (const name of ['here.db', 'there is.db']) writeFileSync(join(folder, name), '');
    const code = `
    import { prepareFile } from '${join(packageRoot, 'src/store/sqlite/file-systems.ts')}';
    try { console.log(prepareFile('there is.db', 0o600)); } catch (error) { console.log(error.code, error.message); }`;
    writeFileSync(join(folder, 'prepare.mjs'), code);
    const script = 'mount --bind here.db "there is.db" && "$0" --import "$1" prepare.mjs';
    const loader = join(packageRoot, '.config/typescript-loader.js');
    const { stdout } = spawnSync('unshare', ['-m', 'sh', '-c', script, process.execPath, loader], { cwd: folder });
    expect(String(stdout)).toMatch(/^database_unusable there is.db is mounted by itself/);
  },
);
