/**
 * A note beside a mirror in which damage was met: the next daemon looks through the file before it opens it. In the file itself such a note
 * might be lost.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs';

export const damageNote = '.damaged';

/** Leaves the note. Where that fails, the next daemon meets the damage again. */
export function noteDamage(path: string): void {
  try {
    writeFileSync(path + damageNote, '');
  } catch {
    // Whoever met the damage says so.
  }
}

export function isDamageNoted(path: string): boolean {
  return existsSync(path + damageNote);
}

export function forgetDamage(path: string): void {
  rmSync(path + damageNote, { force: true });
}
