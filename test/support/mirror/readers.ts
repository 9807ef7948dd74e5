/** Readers as people have them: programs of their own that ask the same file again and again. */
import { spawn, spawnSync, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { driverFolder } from '../../../src/store/sqlite/driver-package.ts';
import { packageRoot } from '../mirror-file.ts';

export const hasShell = spawnSync('sqlite3', ['--version']).status === 0;

/** The value that `sql` gives, by the `sqlite3` shell. @throws Error with what the shell complained of. */
export async function askShell(path: string, sql: string, options: SpawnOptions = {}): Promise<string> {
  const child = spawn('sqlite3', ['-batch', '-cmd', '.timeout 1000', path, sql], options);
  const [printed, complaint] = [text(child.stdout!), text(child.stderr!)];
  await once(child, 'close');
  if (child.exitCode !== 0) throw new Error(`sqlite3: ${await complaint}`);
  return (await printed).trim();
}

/** One shell after the other, until `over`. @returns every value that was shown. */
export async function shells(path: string, sql: string, over: AbortSignal): Promise<Set<string>> {
  const shown = new Set<string>();
  while (!over.aborted) shown.add(await askShell(path, sql));
  return shown;
}

/** Opens the file, asks, and closes it; and asks through a connection that stays open. As fast as it goes. */
const endlessReader = `
  const [driver, path, sql] = process.argv.slice(1);
  const Driver = require(driver);
  const open = () => new Driver(path, { readonly: true, timeout: 1000 });
  const ask = (sqlite) => console.log(sqlite.prepare(sql).pluck().get());
  const staying = open();
  const again = () => {
    ask(staying);
    const sqlite = open();
    ask(sqlite);
    sqlite.close();
    setImmediate(again);
  };
  process.on('SIGTERM', () => process.exit(0));
  again();
`;

/** The driver in a program of its own, until `over`. @returns every value that was shown. */
export async function drivers(path: string, sql: string, over: AbortSignal): Promise<Set<string>> {
  const child = spawn(process.execPath, ['-e', endlessReader, driverFolder, path, sql], { cwd: packageRoot });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [printed, complaint] = [text(child.stdout), text(child.stderr)];
  over.addEventListener('abort', () => child.kill('SIGTERM'));
  await once(child, 'close');
  if (child.exitCode !== 0) throw new Error(`better-sqlite3: ${await complaint}`);
  return new Set((await printed).trim().split('\n'));
}
