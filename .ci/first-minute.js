/**
 * The README's first command as a newcomer runs it: in a fresh clone, with an empty npm cache, and without a compiler in PATH; then Ctrl-C once
 * the terminal has shown a change. Usage: first-minute.js NODE NPM, the paths of a `node` and of an `npm-cli.js`.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const [node, npm] = process.argv.slice(2).map((path) => resolve(path));
const folder = mkdtempSync(join(tmpdir(), 'first-minute-'));
const [clone, bin, cache] = ['clone', 'bin', 'cache'].map((name) => join(folder, name));

const find = (tool) => execFileSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).trim();
mkdirSync(bin);
symlinkSync(node, join(bin, 'node'));
symlinkSync(find('sh'), join(bin, 'sh'));
writeFileSync(join(bin, 'npm'), `#!${join(bin, 'sh')}\nexec '${node}' '${npm}' "$@"\n`, { mode: 0o755 });
const env = { ...process.env, PATH: bin, npm_config_cache: cache };
delete env.CI;

function run(command) {
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command], { cwd: clone, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ended with ${status}:\n${stdout}${stderr}`);
  return stdout.trim();
}

/** A line of the terminal about a vendor that changed at the sandbox. */
const change = /vendor \d+ (is new|was \w+|has|now|changed)/;

/** Runs `npm start` on a terminal of its own. Resolves with its exit status and what it printed. */
function start() {
  return new Promise((done) => {
    let shown = '';
    let isStopped = false;
    const child = spawn(find('script'), ['-qfec', 'npm start', '/dev/null'], { cwd: clone, env });
    const limit = setTimeout(() => child.kill(), 60_000);
    child.stdout.setEncoding('utf8').on('data', (text) => {
      shown += text;
      if (isStopped || !change.test(shown)) return;
      isStopped = true;
      child.stdin.write('\x03');
    });
    child.on('close', (status) => {
      clearTimeout(limit);
      done({ status, shown, isStopped });
    });
  });
}

try {
  execFileSync('git', ['clone', '--quiet', join(import.meta.dirname, '..'), clone]);
  const begin = Date.now();
  const versions = `Node.js ${run('node --version')}, npm ${run('npm --version')}`;
  run('npm ci');
  const installed = Date.now();
  const { status, shown, isStopped } = await start();
  const seconds = (from, to) => ((to - from) / 1_000).toFixed(1);
  // After Ctrl-C, npm ends with 130 whatever the program says.
  const isClean = [0, 130].includes(status) && shown.includes('Stopped. The mirror holds');
  if (!isStopped || !isClean)
    throw new Error(
      `${versions}: npm start ended with ${status}, ${isStopped ? 'after' : 'before'} a change:\n${shown}`,
    );
  console.log(
    `${versions}: installed after ${seconds(begin, installed)} s, a change and Ctrl-C after ${seconds(begin, Date.now())} s`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
