/** How often things must happen at least, in a thousand seeds, for a result without failures to mean something. */
import { knobs } from './plan.ts';
import type { Reach } from './reach.ts';

const floors: Readonly<Record<string, number>> = {};

/** Every value of a knob. */
const knobFloor = 10;
/** With fewer seeds, chance decides. */
const fewest = 500;

/** What happened too seldom, in words. */
export function shortfalls(reach: Reach, seeds: number): string[] {
  if (seeds < fewest) return [];
  const values = Object.entries(knobs).flatMap(([name, list]) =>
    [...new Set(list)].map((value) => [`knob ${name}=${value}`, knobFloor] as const),
  );
  return [...values, ...Object.entries(floors)].flatMap(([what, floor]) => {
    const least = Math.floor((floor * seeds) / 1_000);
    const times = reach[what] ?? 0;
    return times < least ? [`${what}: ${times} times, at least ${least} expected`] : [];
  });
}
