/**
 * Compiles the SQLite driver for Node.js 20, where the lock file holds version 12 under a name of its own (src/store/sqlite/driver-package.ts).
 * From Node.js 22 on, the driver comes compiled, and nothing is to be done. Neither npm 10 nor 11 runs the install script of this package:
 * the lock file does not tell them of one (lock-file.js), because they would also run it where the driver is not used.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '../node_modules/better-sqlite3-node20');
const isNeeded = Number.parseInt(process.versions.node, 10) < 22;

if (isNeeded && existsSync(folder) && !existsSync(join(folder, 'build/Release/better_sqlite3.node'))) {
  console.log(
    'Compiling the SQLite driver for Node.js 20. This takes about a minute; Node.js 22 and newer need no compiler.',
  );
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', 'install'], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (status !== 0) {
    console.error(
      `${stdout}${stderr}\nThe SQLite driver was not compiled: that needs a C++ compiler, make and Python. Or use Node.js 22 or newer.`,
    );
    process.exitCode = 1;
  }
}
