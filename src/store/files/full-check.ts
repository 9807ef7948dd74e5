/**
 * Looks through a large file without anybody waiting for it. SQLite's check runs for minutes, nothing interrupts it but the end of its
 * process, and it may even fall over what it finds: so it has a process of its own.
 */
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { constants, setPriority } from 'node:os';
import { MirrorError } from '../../domain/errors.ts';
import { noteDamage } from './damage-note.ts';
import { faultsIn } from '../sqlite/integrity.ts';

/** Plain JavaScript, whatever this file was compiled to. Prints rows of `integrity_check`, or what SQLite said instead. */
const program = `
  const [driver, path] = process.argv.slice(1);
  try {
    const sqlite = new (require(driver))(path, { readonly: true, fileMustExist: true, timeout: 10000 });
    console.log(JSON.stringify(sqlite.pragma('integrity_check(3)')));
  } catch (error) {
    if (!/^SQLITE_(CORRUPT|NOTADB)/.test(error.code)) throw error;
    console.log(JSON.stringify([{ fault: error.message }]));
  }`;

const driver = createRequire(import.meta.url).resolve('better-sqlite3');

/**
 * What is wrong with the file, in SQLite's words; nothing where it is sound. Where something is, a note is left for the next daemon.
 * @throws MirrorError `interrupted` where the signal came, `database_unusable` where the file could not be looked through.
 */
export async function checkWholeFile(path: string, signal: AbortSignal): Promise<string[]> {
  const faults = await new Promise<string[]>((resolve, reject) => {
    // The environment may hold secrets.
    const options = { signal, env: {}, killSignal: 'SIGKILL' } as const;
    const child = execFile(process.execPath, ['--eval', program, '--', driver, path], options, (error, stdout) => {
      if (!error) resolve(faultsIn(JSON.parse(stdout)));
      else if (signal.aborted) reject(new MirrorError('interrupted', `${path} was not looked through to its end.`));
      else reject(new MirrorError('database_unusable', `${path} could not be looked through: ${error.message}`));
    });
    lowerPriority(child.pid);
  });
  if (faults.length > 0) noteDamage(path);
  return faults;
}

function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It has ended already, or the machine knows no such thing.
  }
}
