/** Processes of an export end with the program that started them. */

/**
 * The program of a thread that ends its process when the parent, whose process id it gets, has ended: SQLite may be busy for hours, and holds the
 * mirror's journal as long as it reads.
 */
export const parentGuard = `
  const asking = require('node:worker_threads').workerData;
  setInterval(() => process.ppid === asking || process.kill(process.pid, 'SIGKILL'), 250);`;

/** What the loader and SQLite look for in the environment; the rest may hold secrets. */
const passedOn = /^(?:LD_|DYLD_|(?:SQLITE_)?TMPDIR$)/;

export function childEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => passedOn.test(name)));
}
