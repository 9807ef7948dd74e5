/** A marker file beside a damaged mirror: the next daemon checks the file before it opens it. Inside the mirror the note might be lost. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';

export const damageNote = '.damaged';

/** Creates the marker. Where that fails, the next daemon finds the damage again. */
export function noteDamage(path: string): void {
  try {
    writeFileSync(path + damageNote, '');
  } catch {
    // The damage itself is reported by the caller.
  }
}

export function isDamageNoted(path: string): boolean {
  return existsSync(path + damageNote);
}

export function forgetDamage(path: string): void {
  rmSync(path + damageNote, { force: true });
}
