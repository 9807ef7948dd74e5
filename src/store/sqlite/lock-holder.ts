/** Which program holds the lock that a writer of an SQLite file needs, as Linux tells; of others, and of locks in other containers, nothing is known. */
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename } from 'node:path';

/** The byte that a writer locks: of the journal's index (SQLite's WAL_WRITE_LOCK), and of a file that is in no other use (RESERVED_BYTE). */
const writeByte = { index: 120, file: 0x40000001 };

/** A POSIX lock in /proc/locks that is held, not awaited. */
const heldLock = /^\d+: POSIX +ADVISORY +WRITE (?<pid>\d+) \w+:\w+:(?<inode>\d+) (?<from>\d+) (?<to>\d+)$/;

export interface LockHolder {
  /** In words: `sqlite3 (process 4711)`. */
  readonly who: string;
  /** Whether it is another process of this program, whose transactions are short. */
  readonly isOurs: boolean;
}

/** The other process that is writing to the file now; undefined where there is none, or nobody can tell. */
export function lockHolder(path: string): LockHolder | undefined {
  try {
    const real = realpathSync(path);
    const file = statSync(real).ino;
    const index = statSync(`${real}-shm`, { throwIfNoEntry: false })?.ino;
    for (const line of readFileSync('/proc/locks', 'utf8').split('\n')) {
      const { pid, inode, from, to } = heldLock.exec(line)?.groups ?? {};
      const byte = new Map([
        [file, writeByte.file],
        [index, writeByte.index],
      ]).get(Number(inode));
      if (byte === undefined || Number(from) > byte || Number(to) < byte) continue;
      if (Number(pid) !== process.pid) return holder(Number(pid));
    }
  } catch {
    // There is no file, or no /proc.
  }
  return undefined;
}

function holder(pid: number): LockHolder {
  const [program = '', script = ''] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  const isOurs = /\/(vendor-mirror|cmd\/main\.js)$/.test(script);
  const name = basename(program)
    .replace(/[^\w.+-]/g, '')
    .slice(0, 40);
  return { who: isOurs ? `another vendor-mirror (process ${pid})` : `${name} (process ${pid})`, isOurs };
}

/** What to do about another program that does not let go. */
export function lockRemedy({ who, isOurs }: LockHolder): string {
  return isOurs
    ? `See what ${who} does, and end it if it hangs.`
    : `End its transaction (COMMIT or ROLLBACK, or "Write changes" in a database tool), or close it; \`vendor-mirror export\` and \`publish\` make copies to work with.`;
}
