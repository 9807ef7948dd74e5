/** A command that is started in another folder than usual. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { refuseWrongFolder } from '../../../src/cmd/load-settings.ts';
import { temporaryFolder } from '../../support/mirror-file.ts';

/** A folder with a mirror at `data/vendors.db`. */
function folderWithMirror(): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'data'));
  writeFileSync(join(folder, 'data/vendors.db'), '');
  return folder;
}

describe('K23 a relative path of the mirror', () => {
  it('is refused where no mirror is there and one is beside the settings file, which the error names', () => {
    const folder = folderWithMirror();
    const mirror = join(folder, 'data/vendors.db');
    expect(() => refuseWrongFolder(join(folder, 'mirror.yaml'), 'data/vendors.db', temporaryFolder())).toThrow(mirror);
  });

  it('is accepted in the folder of the settings file, however both are written', () => {
    const folder = folderWithMirror();
    for (const name of ['mirror.yaml', './mirror.yaml', join(folder, 'mirror.yaml')])
      refuseWrongFolder(name, './data/vendors.db', folder);
  });

  it('is accepted where a mirror is there, where none is anywhere, and where it is absolute', () => {
    const [usual, other] = [folderWithMirror(), folderWithMirror()];
    refuseWrongFolder(join(usual, 'mirror.yaml'), 'data/vendors.db', other);
    refuseWrongFolder(join(temporaryFolder(), 'mirror.yaml'), 'data/vendors.db', temporaryFolder());
    refuseWrongFolder(join(usual, 'mirror.yaml'), join(other, 'data/none.db'), temporaryFolder());
  });
});
