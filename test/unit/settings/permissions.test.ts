import { chmodSync, chownSync, lchownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readableByAll, writableByOthers } from '../../../src/settings/permissions.ts';
import { temporaryFolder } from '../../support/mirror-file.ts';
import { testbed, type Testbed } from '../../support/testbed.ts';
import { isMissing } from '../../support/needed.ts';

const other = process.getuid?.() === 0 ? undefined : 'only root can make files of another user';

/** A file of a mode in a folder of a mode, in one that everybody may enter. */
function fileOf(mode: number, folderMode = 0o755, above = 0o755): string {
  const outer = temporaryFolder();
  const folder = join(outer, 'inner');
  mkdirSync(folder);
  const path = join(folder, 'file');
  writeFileSync(path, 'text');
  chmodSync(path, mode);
  chmodSync(folder, folderMode);
  chmodSync(outer, above);
  return path;
}

describe('L59 a file', () => {
  it.each([
    [0o644, 0o755, 0o755, undefined],
    [0o600, 0o700, 0o755, undefined],
    [0o646, 0o755, 0o755, /others may write .*file$/],
    [0o664, 0o755, 0o755, /others may write .*file$/],
    [0o644, 0o777, 0o755, /others may write .*inner$/],
    [0o644, 0o775, 0o755, /others may write .*inner$/],
    [0o644, 0o1777, 0o755, undefined],
    [0o600, 0o755, 0o777, /others may write .*vendor-mirror-\w+$/],
    [0o600, 0o755, 0o773, /others may write .*vendor-mirror-\w+$/],
    [0o600, 0o755, 0o1777, undefined],
    [0o666, 0o700, 0o755, undefined],
    [0o666, 0o755, 0o700, undefined],
  ])('of mode %o in a folder of mode %o below one of %o: who else may write it', (mode, folder, above, why) => {
    const open = writableByOthers(fileOf(mode, folder, above));
    if (why === undefined) expect(open).toBeUndefined();
    else
      expect(open).toMatchObject({
        why: expect.stringMatching(why) as string,
        remedy: expect.stringContaining('chmod go-w') as string,
      });
  });

  it.each([
    [0o600, 0o755, false],
    [0o640, 0o755, false],
    [0o644, 0o755, true],
    [0o604, 0o755, true],
    [0o644, 0o750, false],
  ])('of mode %o in a folder of mode %o: whether all may read it', (mode, folder, isOpen) => {
    expect(readableByAll(fileOf(mode, folder))).toBe(isOpen);
  });

  it('that a link leads to, or that is none, or not there', () => {
    const link = join(temporaryFolder(), 'link');
    symlinkSync(fileOf(0o666), link);
    expect(writableByOthers(link)?.why).toMatch(/inner\/file$/);
    expect(readableByAll(link)).toBe(true);
    for (const path of ['/dev/null', '/nowhere/file'])
      expect([writableByOthers(path), readableByAll(path)]).toEqual([undefined, false]);
  });

  it('that a link leads to may be another tomorrow where others may write a folder on the way', () => {
    const [first, second] = [temporaryFolder(), temporaryFolder()];
    for (const folder of [first, second]) chmodSync(folder, 0o755);
    symlinkSync(dirname(fileOf(0o600)), join(second, 'folder'));
    symlinkSync(join(second, 'folder', 'file'), join(first, 'link'));
    expect(writableByOthers(join(first, 'link'))).toBeUndefined();
    chmodSync(second, 0o777);
    expect(writableByOthers(join(first, 'link'))?.why).toBe(`others may write ${second}`);
    expect(writableByOthers(join(second, 'folder', 'file'))?.why).toBe(`others may write ${second}`);
    chmodSync(second, 0o1777);
    expect(writableByOthers(join(first, 'link'))).toBeUndefined();
    if (other) return;
    lchownSync(join(second, 'folder'), 65_534, 65_534);
    expect(writableByOthers(join(first, 'link'))?.why).toBe(`${join(second, 'folder')} belongs to another user`);
  });

  it.skipIf(isMissing(other))('of another user may be written by that user', () => {
    const path = fileOf(0o600);
    chownSync(path, 65_534, 65_534);
    expect(writableByOthers(path)).toMatchObject({ why: `${path} belongs to another user` });
  });
});

/** Commands with settings that others reach. */
async function openLine(settings: string): Promise<Testbed<'command'>> {
  const fetch = () => Promise.resolve(new Response('', { status: 401 }));
  const line = await testbed({ level: 'command', settings, fetch });
  chmodSync(line.folder, 0o755);
  return line;
}

const head = 'accounts: [6BApk]\nservice: { baseUrl: "https://service.example", auth: ';

describe('L59 settings with a command', () => {
  it.each([
    ['a text', 'accessTokenCommand: echo token'],
    ['a list', 'accessTokenCommand: [echo, token]'],
  ])('(%s) are refused if others may write them', async (_form, auth) => {
    const line = await openLine(`${head}{ ${auth} } }`);
    expect((await line.run('status')).status).toBe(0);
    chmodSync(line.settings, 0o646);
    for (const command of ['status', 'sync', 'doctor']) {
      const { status, stderr } = await line.run(command);
      expect([status, stderr]).toEqual([78, expect.stringContaining(`others may write ${line.settings}`)]);
      expect(stderr).toContain(`chmod go-w ${line.settings}`);
    }
  });

  it.each([
    (script: string) => `"${script} --token"`,
    (script: string) => `"${relative(process.cwd(), script)} --token"`,
    (script: string) => `[/bin/sh, -e, ${script}]`,
    (script: string) => `'exec sh "${script}"; true'`,
  ])('are refused if others may write a program or script that they name by its path (%#)', async (commandOf) => {
    const script = fileOf(0o757);
    const line = await openLine(`${head}{ accessTokenCommand: ${commandOf(script)} } }`);
    const { status, stderr } = await line.run('status');
    expect([status, stderr]).toEqual([78, expect.stringContaining(`others may write ${script}`)]);
  });

  it('and those without one are taken', async () => {
    const line = await openLine(`${head}{ accessToken: token } }`);
    chmodSync(line.settings, 0o666);
    expect((await line.run('status')).status).toBe(0);
  });
});

describe('L59 secrets in files that everybody may read', () => {
  async function open(line: Testbed<'command'>): Promise<string[]> {
    const { stdout } = await line.run('doctor', '--json');
    const { checks } = JSON.parse(stdout) as { checks: { check: string; result: string; message: string }[] };
    return checks.filter(({ check }) => check === 'secret files').map(({ result, message }) => `${result}: ${message}`);
  }

  it('are named by doctor: the file of the token, that of another secret, and settings that hold one', async () => {
    const [token, admin, closed] = [fileOf(0o644), fileOf(0o604), fileOf(0o640)];
    const elsewhere = await openLine(
      `${head}{ accessTokenFile: ${token} } }\nadmin: { port: 0, tokenFile: ${admin} }\nlistener: { port: 0 }`,
    );
    expect(await open(elsewhere)).toEqual(
      [admin, token].map((path) => `warning: Everybody on this machine may read ${path}.`),
    );
    const none = await openLine(`${head}{ accessTokenFile: ${closed} } }\nlistener: { port: 0 }\nadmin: { port: 0 }`);
    expect(await open(none)).toEqual([]);
    const inside = await openLine(`${head}{ accessToken: secret } }\nlistener: { port: 0 }\nadmin: { port: 0 }`);
    expect(await open(inside)).toEqual([`warning: Everybody on this machine may read ${inside.settings}.`]);
    chmodSync(inside.settings, 0o600);
    expect(await open(inside)).toEqual([]);
  });

  it('are named by serve when it starts, and a passphrase by the command that reads it', async () => {
    const token = fileOf(0o644);
    const line = await openLine(
      `${head}{ accessTokenFile: ${token} } }\nadmin: { port: 0, host: 192.0.2.1, token: sixteen-letters! }`,
    );
    const { stderr } = await line.run('serve', '--log-level', 'warn');
    expect(stderr).toContain(`Everybody on this machine may read ${token}. Run: chmod o-rwx ${token}`);
    const passphrase = fileOf(0o644);
    writeFileSync(passphrase, 'correct horse battery');
    const sealed = await line.run('secrets', 'export', join(line.folder, 'sealed'), '--passphrase-file', passphrase);
    expect(sealed.stderr).toContain(`Everybody on this machine may read ${passphrase}.`);
  });
});
