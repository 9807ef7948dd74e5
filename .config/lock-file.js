/**
 * Keeps npm from compiling SQLite drivers, in the lock file, where every `npm install` takes it out again. Without `gypfile: false`, npm 10
 * runs node-gyp for version 13, which comes compiled, and where that fails it drops the driver without a word. Version 12 is compiled by
 * driver.js, and only on Node.js 20.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const path = join(import.meta.dirname, '../package-lock.json');
const text = readFileSync(path, 'utf8');
const lock = JSON.parse(text);
for (const name of ['better-sqlite3', 'better-sqlite3-node20']) {
  const entry = lock.packages[`node_modules/${name}`];
  delete entry.hasInstallScript;
  entry.gypfile = false;
}
const kept = `${JSON.stringify(lock, null, 2)}\n`;
if (kept !== text) writeFileSync(path, kept);
