/** Makes a failing seed small: knobs go back to their plain values, and numbers down, as long as the same promise breaks. */
import type { SeedProcesses } from './seed-processes.ts';
import { drawnBy, knobs, type Drawn } from '../plan/plan.ts';

/** Fewer of these are easier to read, plain or not. */
const smaller: Readonly<Record<string, readonly number[]>> = { vendors: [1, 3], changes: [1], minutes: [14] };

/** The knobs that are left, none of which can be taken away alone. */
export async function shrink(
  processes: SeedProcesses,
  { seed, promise, postgres }: { seed: number; promise: string; postgres: string | undefined },
  from: Drawn = drawnBy(seed, postgres !== undefined),
): Promise<Drawn> {
  const breaks = async (turned: Drawn): Promise<boolean> => {
    for await (const { broken } of processes.run([{ seed, knobs: turned, postgres }]))
      return broken.some((words) => words.startsWith(promise));
    return false;
  };
  let stored = without(from, (name, value) => knobs[name]?.[0] === value);
  // Many at a time first: most have nothing to do with it.
  for (let size = Math.ceil(Object.keys(stored).length / 2); size >= 1; size = size > 1 ? Math.ceil(size / 2) : 0)
    for (let start = 0; start < Object.keys(stored).length;) {
      const chosen = new Set(Object.keys(stored).slice(start, start + size));
      const less = without(stored, (name) => chosen.has(name));
      if (await breaks(less)) stored = less;
      else start += size;
    }
  for (const [name, values] of Object.entries(smaller))
    for (const value of values) {
      const less = { ...stored, [name]: value };
      if (value >= Number(stored[name] ?? knobs[name]?.[0]) || !(await breaks(less))) continue;
      stored = less;
      break;
    }
  return stored;
}

function without(drawn: Drawn, leave: (name: string, value: string | number) => boolean): Drawn {
  return Object.fromEntries(Object.entries(drawn).filter(([name, value]) => !leave(name, value)));
}
