/** Compiles the program where a source is newer: once before all tests, and again while tests are watched. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../mirror-file.ts';

export const program = join(packageRoot, 'dist/cmd/main.js');

let built = false;

/** `npm test` builds; a test run by hand does not, and must not try a program that is older than its source. */
export function build(): void {
  if (!built && !isBuilt()) execFileSync('npm', ['run', '--silent', 'build'], { cwd: packageRoot });
  built = true;
}

/** Before any worker of vitest begins: two of them would compile into the same folder at once. */
export const setup = build;

function isBuilt(): boolean {
  if (!existsSync(program)) return false;
  const { mtimeMs } = statSync(program);
  const sources = readdirSync(join(packageRoot, 'src'), { recursive: true, encoding: 'utf8' });
  const paths = [...sources.map((name) => join('src', name)), '.config/build.js', 'package.json'];
  return paths.every((path) => statSync(join(packageRoot, path)).mtimeMs <= mtimeMs);
}
