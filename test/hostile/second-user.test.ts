/** Another user of this machine, as a process of its own, against files that the program writes, keeps and reads. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isMissing } from '../support/needed.ts';
import { testbed } from '../support/testbed.ts';

const as = ['--reuid=65534', '--regid=65534', '--clear-groups', '--no-new-privs', '--', process.execPath] as const;

function missing(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can run a process of another user';
  return spawnSync('setpriv', [...as, '-e', '']).status === 0 ? undefined : 'no process of another user can be run';
}

/** Swaps in a link for whatever appears under a hidden name, and says so; argv: the folder, what the links lead to. */
const swapping = `
const { readdirSync, renameSync, symlinkSync, lstatSync, existsSync } = require('node:fs');
const [folder, target] = process.argv.slice(1);
console.log('ready');
let taken = 0;
const look = () => {
  for (let round = 0; round < 2000; round++)
    for (const name of readdirSync(folder))
      try {
        const path = folder + '/' + name;
        if (!name.startsWith('.') || lstatSync(path).isSymbolicLink()) continue;
        renameSync(path, folder + '/taken' + taken);
        symlinkSync(target, path);
        taken++;
        console.log('taken');
      } catch {}
  setImmediate(look);
};
look();
`;

/** Tries to open files for reading and writing; prints how each ended. */
const opening = `
const { openSync } = require('node:fs');
const attempt = (path, flags) => { try { openSync(path, flags); return 'opened'; } catch ({ code }) { return code; } };
console.log(JSON.stringify(process.argv.slice(1).flatMap((path) => ['r', 'r+'].map((flags) => attempt(path, flags)))));
`;

/** Everybody may enter it; @param mode of the folder itself */
function openFolder(mode: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'open-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  const within = join(folder, 'shared');
  mkdirSync(within);
  chmodSync(within, mode);
  return within;
}

function stateOf(path: string): unknown {
  const { mode, uid, ino } = statSync(path);
  return { mode, uid, ino, bytes: readFileSync(path).toString('base64') };
}

describe.skipIf(isMissing(missing()))('another user of this machine', () => {
  it.each(['copy.csv', 'copy.ndjson', 'copy.db'])(
    'L51 who swaps links into the folder of %s changes no file elsewhere',
    async (name) => {
      const at = await testbed({ level: 'program', service: { vendors: 300 } });
      expect((await at.run('sync')).status).toBe(0);
      const shared = openFolder(0o777);
      const valuable = join(at.folder, 'secrets.db');
      const before = stateOf(valuable);
      const attacker = spawn('setpriv', [...as, '-e', swapping, shared, valuable]);
      onTestFinished(() => void attacker.kill('SIGKILL'));
      const lines: string[] = [];
      const reader = createInterface(attacker.stdout).on('line', (line) => lines.push(line));
      await once(reader, 'line');
      let exports = 0;
      while (lines.length < 3 && exports < 40) {
        const { status, stderr } = await at.run('export', join(shared, `${exports}-${name}`));
        // What was swapped is refused or told as gone; nothing is a fault of the program.
        expect(status, stderr).not.toBe(70);
        exports++;
        expect(stateOf(valuable)).toEqual(before);
      }
      expect(lines.length).toBeGreaterThanOrEqual(3);
    },
  );

  it('L51 who puts links beside the files of a sandbox changes no file elsewhere', async () => {
    const at = await testbed({ level: 'program', service: { vendors: 0 }, listens: true });
    const valuable = join(at.folder, 'valuable');
    writeFileSync(valuable, 'of this user alone', { mode: 0o640 });
    const before = stateOf(valuable);
    const shared = openFolder(0o777);
    const settings = join(at.folder, 'mirror.yaml');
    const text = readFileSync(settings, 'utf8')
      .replace(/^service:\n( .*\n)+/m, 'sandbox: { vendors: 3, seed: 1, churn: 0 }\n')
      .replaceAll(`${at.folder}/`, `${shared}/`);
    writeFileSync(settings, text);
    const names = ['.damaged', '.world.draft', '.world.address.draft'].map((name) => join(shared, `vendors.db${name}`));
    const link = `for (const name of process.argv.slice(1)) require('node:fs').symlinkSync(${JSON.stringify(valuable)}, name)`;
    expect(spawnSync('setpriv', [...as, '-e', link, ...names]).status).toBe(0);
    const daemon = await at.serve();
    expect(await daemon.end()).toBe(0);
    expect(stateOf(valuable)).toEqual(before);
  });

  it('L59 L64 opens no secret, no mirror and no lock, and has no command of its own run', async () => {
    const at = await testbed({ level: 'program', service: { vendors: 3 }, listens: true });
    const daemon = await at.serveUntilSwept();
    chmodSync(at.folder, 0o755);
    const files = readdirSync(at.folder).filter((name) => name !== 'mirror.yaml');
    expect(files.filter((name) => name.includes('lock')).length).toBeGreaterThan(0);
    const paths = files.map((name) => join(at.folder, name));
    const closed = paths.filter((path) => /secrets|lock/.test(path));
    const { stdout } = spawnSync('setpriv', [...as, '-e', opening, ...closed], { encoding: 'utf8' });
    expect(JSON.parse(stdout)).toEqual(closed.flatMap(() => ['EACCES', 'EACCES']));
    const { stdout: others } = spawnSync('setpriv', [...as, '-e', opening, ...paths], { encoding: 'utf8' });
    expect((JSON.parse(others) as string[]).filter((_, nth) => nth % 2 === 1)).toEqual(paths.map(() => 'EACCES'));

    const shared = openFolder(0o777);
    const settings = join(shared, 'mirror.yaml');
    const proof = join(at.folder, 'ran');
    const text = `accounts: [6BApk]
database: ${join(at.folder, 'other.db')}
secrets: ${join(at.folder, 'other-secrets.db')}
service: { baseUrl: "http://127.0.0.1:9", auth: { accessTokenCommand: [/usr/bin/touch, ${proof}] } }
`;
    const write = `require('node:fs').writeFileSync(${JSON.stringify(settings)}, ${JSON.stringify(text)})`;
    expect(spawnSync('setpriv', [...as, '-e', write]).status).toBe(0);
    const refused = { status: 78, stderr: expect.stringContaining('others could change what it does') as string };
    expect(await at.run('sync', '-c', settings)).toMatchObject(refused);
    rmSync(settings);
    writeFileSync(settings, text, { mode: 0o600 });
    expect(await at.run('sync', '-c', settings)).toMatchObject(refused);
    expect(readdirSync(at.folder)).not.toContain('ran');
    // In a folder of this user alone, the same command runs.
    const own = join(at.folder, 'own.yaml');
    writeFileSync(own, text, { mode: 0o600 });
    chmodSync(at.folder, 0o700);
    await at.run('sync', '-c', own);
    expect(readdirSync(at.folder)).toContain('ran');
    expect(await daemon.end()).toBe(0);
  });
});
