/**
 * Checks a large file without blocking. SQLite's check takes minutes, only the end of its process interrupts it, and it may crash on
 * damage: so it runs in a child process.
 */
import { execFile } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { MirrorError } from '../../domain/errors.ts';
import { noteDamage } from './damage-note.ts';
import { driverFolder } from '../sqlite/driver-package.ts';
import { faultsIn } from '../sqlite/integrity.ts';

/** Plain JavaScript, because it is not compiled. Prints the rows of `integrity_check`, or SQLite's error. */
const program = `
  const [driver, path] = process.argv.slice(1);
  try {
    const sqlite = new (require(driver))(path, { readonly: true, fileMustExist: true, timeout: 10000 });
    console.log(JSON.stringify(sqlite.pragma('integrity_check(3)')));
  } catch (error) {
    if (!/^SQLITE_(CORRUPT|NOTADB)/.test(error.code)) throw error;
    console.log(JSON.stringify([{ fault: error.message }]));
  }`;

/**
 * The result of SQLite's check; empty where the file is sound. Damage leaves a marker for the next daemon.
 * @throws MirrorError `interrupted` where the signal was aborted, `database_unusable` where the file could not be checked.
 */
export async function checkWholeFile(path: string, signal: AbortSignal): Promise<string[]> {
  const faults = await new Promise<string[]>((resolve, reject) => {
    // The environment may contain secrets.
    const options = { signal, env: {}, killSignal: 'SIGKILL' } as const;
    const child = execFile(
      process.execPath,
      ['--eval', program, '--', driverFolder, path],
      options,
      (error, stdout) => {
        if (!error) resolve(faultsIn(JSON.parse(stdout)));
        else if (signal.aborted) reject(new MirrorError('interrupted', `The check of ${path} was interrupted.`));
        else reject(new MirrorError('database_unusable', `${path} could not be checked: ${error.message}`));
      },
    );
    lowerPriority(child.pid);
  });
  if (faults.length > 0) noteDamage(path);
  return faults;
}

function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // The process has ended already, or the system has no priorities.
  }
}
