import { newPath, openingError } from '../../../support/mirror-file.ts';
import type * as fs from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { noSpaceForDelivery } from '../../../../src/store/sqlite/file-systems.ts';

/** What `statfs` says of every path; no test can mount a file system. */
const kind = vi.hoisted(() => ({ type: 0 }));
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
  ])('F13 %s (%i) is refused, because its locks do not work', async (name, type) => {
    kind.type = type;
    expect(await openingError(newPath())).toMatchObject({
      code: 'database_unusable',
      message: expect.stringContaining(`(${name})`) as string,
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
