/**
 * `npm run test:save`: types, and lint, format and tests of what changed since the last commit; where nothing did, of what that commit changed.
 * Of the tests that import what changed, the nearest run: those that import it themselves, then those that import what imports it.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Test files, so that they take seconds whatever changed. */
const most = 15;
/** What they check is everywhere. */
const always = ['test/architecture.test.ts', 'test/documents.test.ts', 'test/hazards.test.ts'];

process.chdir(join(import.meta.dirname, '..'));

function lines(command, ...args) {
  const { stdout } = spawnSync(command, args, { encoding: 'utf8' });
  return stdout.split('\n').filter((path) => path !== '');
}

function changedFiles() {
  const since = (commit) => lines('git', 'diff', '--name-only', '--relative', '--diff-filter=d', commit);
  const now = [...since('HEAD'), ...lines('git', 'ls-files', '--others', '--exclude-standard')];
  return now.length > 0 ? now : since('HEAD~1');
}

/** Of each file, those that import it. Types alone decide nothing while a test runs. */
function importersOf(files) {
  const importers = new Map();
  for (const file of files) {
    const text = readFileSync(file, 'utf8').replaceAll(/^import type .*$/gm, '');
    for (const [, path] of text.matchAll(/(?:from|import\(|^import) ?'(\.[^']+)'/gm)) {
      const imported = join(dirname(file), path);
      importers.set(imported, [...(importers.get(imported) ?? []), file]);
    }
  }
  return importers;
}

/** Files that changed and those that import them, directly or not, the nearest first. */
function nearestFirst(changed, importers) {
  const found = new Set(changed);
  for (const file of found) for (const importer of importers.get(file) ?? []) found.add(importer);
  return [...found];
}

/** Of the tests of `npm test`, those to run. */
function testsOf(changed) {
  const sources = lines('git', 'ls-files', '--cached', '--others', '--exclude-standard', '*.ts').filter(existsSync);
  const listed = lines('npx', 'vitest', 'list', '--filesOnly', '--project', 'tests', '--project', 'alone');
  const tests = new Set(listed.map((line) => line.replace(/^\[\w+\] /, '')));
  const concerned = nearestFirst(changed, importersOf(sources)).filter((path) => /\.test\.ts$/.test(path));
  const near = concerned.filter((path) => tests.has(path));
  console.log(
    `${Math.min(near.length, most)} of ${near.length} test files that what changed concerns; npm test runs all, and npm run test:proofs ${concerned.length - near.length} more.`,
  );
  return [...new Set([...near.slice(0, most), ...always])];
}

async function succeeds(command, ...args) {
  const [code] = await once(spawn(command, args, { stdio: 'inherit' }), 'exit');
  return code === 0;
}

const changed = changedFiles();
const code = changed.filter((path) => /\.(ts|js)$/.test(path));
console.log(`Changed: ${changed.join(', ')}`);
const outcomes = await Promise.all([
  succeeds('npm', 'run', '--silent', 'check:types'),
  code.length === 0 || succeeds('npx', 'eslint', '--max-warnings', '0', ...code),
  succeeds('npx', 'prettier', '--check', '--log-level', 'warn', '--ignore-unknown', ...changed),
  succeeds('npx', 'vitest', 'run', '--project', 'tests', '--project', 'alone', ...testsOf(changed)),
]);
process.exitCode = outcomes.every(Boolean) ? 0 : 1;
