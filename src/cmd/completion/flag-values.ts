/** Which flags take a value, and which values: one entry if all commands that have the flag agree. */
import type { CommandWords, Value } from './command-tree.ts';

/** Every name of a flag that a value follows. */
export function flagsWithValue(tree: readonly CommandWords[]): string[] {
  const names = tree.flatMap(({ flags }) =>
    flags.filter(({ value }) => value !== undefined).flatMap((flag) => flag.names),
  );
  return [...new Set(names)];
}

export interface FlagValue {
  /** `command path:flag`; a star means any command. */
  readonly patterns: readonly string[];
  readonly value: Value;
}

export function valuePatterns(tree: readonly CommandWords[]): FlagValue[] {
  return flagsWithValue(tree).flatMap((name) => {
    const uses = tree.flatMap(({ path, flags }) =>
      flags.flatMap(({ names, value }) => (value !== undefined && names.includes(name) ? [{ path, value }] : [])),
    );
    const [first] = uses;
    if (first && uses.every(({ value }) => String(value) === String(first.value)))
      return [{ patterns: [`*:${name}`], value: first.value }];
    return uses.map(({ path, value }) => ({ patterns: [`${path}:${name}`], value }));
  });
}
