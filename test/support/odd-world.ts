/** Worlds of tests: with odd records, unless a test chooses plain ones. */
import { parseWorld, type World } from '../../src/sandbox/core/worlds.ts';

/** @param pairs as `sandbox --world` takes them */
export function oddWorld(...pairs: readonly string[]): World {
  return parseWorld(['records=odd', ...pairs]);
}
