/** Commands of root beside a service that runs as another user: what they leave, and what that user is told who may not. */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, linkSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { asMirrorError, errorSentence } from '../../../src/domain/errors.ts';
import { lockFile } from '../../../src/store/files/locks.ts';
import { giveToFolderOwner, makeFolder, prepareFile } from '../../../src/store/sqlite/file-systems.ts';
import { packageRoot, temporaryFolder } from '../../support/mirror-file.ts';
import { isMissing } from '../../support/needed.ts';
import { testbed } from '../../support/testbed.ts';

const other = process.getuid?.() === 0 ? undefined : 'only root can make files of another user';
const service = { uid: 12_345, gid: 12_346 };
const ofService = { uid: service.uid, gid: service.gid };

/** What the service is told of a file that it would make in a folder. */
function asService(folder: string): string {
  const code = `const { forbiddenText } = await import('./src/store/sqlite/file-systems.ts');
    process.setuid(${service.uid});
    process.stdout.write(forbiddenText('${join(folder, 'vendors.db')}'));`;
  const argv = ['--import', './.config/typescript-loader.js', '--input-type=module', '-e', code];
  const { stdout, stderr } = spawnSync(process.execPath, argv, { cwd: packageRoot, encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout;
}

describe.skipIf(isMissing(other))('L94 beside a service of another user, commands of root', () => {
  it('make nothing where they only look', async () => {
    const line = await testbed({ level: 'command', service: { vendors: 3 } });
    const before = readdirSync(line.folder);
    const account = ['--account', '6BApk'];
    for (const command of [['doctor'], ['status'], ['verify'], ['vendors', 'list'], ['callbacks', 'list']])
      await line.run(...command, ...account);
    await line.run('accounts', 'list');
    expect(readdirSync(line.folder)).toEqual(before);
  });

  it('give what they make to the owner of the folder', async () => {
    const line = await testbed({ level: 'command', service: { vendors: 3 }, hasMirror: false });
    chownSync(line.folder, service.uid, service.gid);
    await line.run('sync', '--account', '6BApk');
    await line.run('export', join(line.folder, 'copy.db'));
    const made = readdirSync(line.folder).filter((name) => name !== 'mirror.yaml');
    expect(made).toContain('vendors.db');
    for (const name of made) expect(statSync(join(line.folder, name)), name).toMatchObject(ofService);
  });

  it('give folders, files and locks away one by one', () => {
    const folder = temporaryFolder();
    chownSync(folder, service.uid, service.gid);
    makeFolder(join(folder, 'a/b'));
    const file = prepareFile(join(folder, 'c/vendors.db'), 0o600);
    lockFile(`${file}.lock`)?.close();
    for (const name of ['a', 'a/b', 'c', 'c/vendors.db', 'c/vendors.db.lock'])
      expect(statSync(join(folder, name)), name).toMatchObject(ofService);
  });

  it('say in doctor which files the user of the service cannot use', async () => {
    const line = await testbed({ level: 'command', service: { vendors: 3 } });
    chownSync(line.folder, service.uid, service.gid);
    chmodSync(line.settings, 0o600);
    const { stdout } = await line.run('doctor', '--account', '6BApk');
    expect(stdout).toContain(`cannot use ${line.settings}. If the daemon runs as that user, run: chown 12345:12346`);
    chownSync(line.settings, service.uid, service.gid);
    expect((await line.run('doctor', '--account', '6BApk')).stdout).toMatch(/^ok +user of the service: /m);
  });

  it('never give away what a link leads to', () => {
    const folder = temporaryFolder();
    chownSync(folder, service.uid, service.gid);
    const ours = join(temporaryFolder(), 'of-root');
    writeFileSync(ours, '');
    symlinkSync(ours, join(folder, 'link'));
    linkSync(ours, join(folder, 'second-name'));
    for (const name of ['link', 'second-name']) giveToFolderOwner(join(folder, name));
    expect(statSync(ours)).toMatchObject({ uid: 0 });
  });

  it.each([
    ['a folder of the user that it may not write', service.uid, 0o555, 'has the mode 555: chmod u+rwX FOLDER'],
    ['a folder of the user that it may not enter', service.uid, 0o600, 'has the mode 600: chmod u+rwX FOLDER'],
    ['a folder of root', 0, 0o755, 'because it belongs to root'],
    ['a folder of a third user', 4_321, 0o755, 'because it belongs to uid 4321'],
    ['a folder that the user may use', service.uid, 0o700, ''],
  ])('say why the service cannot use %s', (_, owner, mode, why) => {
    const folder = temporaryFolder();
    chownSync(folder, owner, owner);
    chmodSync(folder, mode);
    const said = asService(folder);
    if (why === '') expect(said).toBe('');
    else expect(said).toContain(why.replace('FOLDER', folder));
  });
});

it('L94 a file system that can only be read is no bug, and not called a matter of the user', () => {
  const error = asMirrorError(Object.assign(new Error("EROFS: read-only file system, open '/x'"), { code: 'EROFS' }));
  expect([error.code, error.exit, error.message]).toEqual([
    'file_unwritable',
    74,
    "EROFS: read-only file system, open '/x'.",
  ]);
  expect(error.hint).toContain('Mount the file system so that it can be written');
});

it.each(['EACCES', 'EROFS', 'ENOSPC'])(
  'what the system says (%s) is told as one sentence, with one full stop',
  (code) => {
    const said = errorSentence(Object.assign(new Error(`${code}: it failed, open '/x'`), { code }));
    expect(said).toMatch(/[^.]\.$/);
  },
);

it.each(['EACCES', 'EPERM'])(
  'L94 a folder without access (%s) is no bug: the user is named, and what to do',
  (code) => {
    const error = asMirrorError(Object.assign(new Error(`${code}: permission denied, open '/x'`), { code }));
    expect([error.code, error.exit]).toEqual(['file_unwritable', 74]);
    expect(`${error.message} ${error.hint}`).toMatch(/This user \(.*\) may not do that\. .*as the user of the service/);
  },
);
