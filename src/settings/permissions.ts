/**
 * Who else may read or write a file that settings name, by owners and modes of the file and its folders.
 *
 * What others cannot reach, because they may not enter one of its folders, is open to nobody, whatever its own mode. Pipes are not judged,
 * nor files that are not there.
 */
import { realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Bits of a mode that let the group and all others in. */
const [writeByOthers, enterByOthers, readByAll, enterByAll, sticky] = [0o022, 0o011, 0o004, 0o001, 0o1000];

/** Why others than this user and root may change a file, and what to do about it; undefined where they may not. */
export function writableByOthers(path: string): { readonly why: string; readonly remedy: string } | undefined {
  const place = regularFile(path);
  if (place === undefined) return undefined;
  const folder = dirname(place);
  for (const each of [place, folder]) {
    const { mode, uid } = statSync(each);
    if (uid !== 0 && uid !== process.getuid?.())
      return { why: `${each} belongs to another user`, remedy: `Run: chown ${process.getuid?.() ?? 0} ${each}` };
    const isOpen = (mode & writeByOthers) !== 0 && (each === place || (mode & sticky) === 0);
    if (isOpen && isReachable(folder, enterByOthers))
      return { why: `others may write ${each}`, remedy: `Run: chmod go-w ${each}` };
  }
  return undefined;
}

/** Whether everybody on this machine may read a file. */
export function readableByAll(path: string): boolean {
  const place = regularFile(path);
  return place !== undefined && (statSync(place).mode & readByAll) !== 0 && isReachable(dirname(place), enterByAll);
}

/** The real path of a regular file; undefined for anything else. */
function regularFile(path: string): string | undefined {
  try {
    return statSync(path).isFile() ? realpathSync(path) : undefined;
  } catch {
    return undefined;
  }
}

function isReachable(folder: string, enter: number): boolean {
  return (statSync(folder).mode & enter) !== 0 && (dirname(folder) === folder || isReachable(dirname(folder), enter));
}
