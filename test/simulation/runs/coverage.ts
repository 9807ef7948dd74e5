/** Which values of knobs met each other: every pair and every triple of them can be the one that breaks a promise. */
import { fileKnobs, type Drawn } from '../plan/plan.ts';

export interface Met {
  readonly met: number;
  readonly of: number;
}

interface Place {
  readonly knob: number;
  readonly place: number;
}

/** Every value of every knob has a place of its own; those that only servers have are few, and each is met often. */
const places = new Map<string, Place>();
const sizes = Object.entries(fileKnobs).map(([name, values], knob) => {
  const distinct = [...new Set(values)];
  for (const value of distinct) places.set(`${name}=${value}`, { knob, place: places.size });
  return distinct.length;
});
const count = places.size;

export class Coverage {
  readonly #pairs = new Uint8Array(count ** 2);
  readonly #triples = new Uint8Array(count ** 3);

  add(drawn: Drawn): void {
    const here = Object.entries(drawn).flatMap(([name, value]) => places.get(`${name}=${value}`)?.place ?? []);
    for (let a = 0; a < here.length; a += 1)
      for (let b = a + 1; b < here.length; b += 1) {
        const pair = here[a]! * count + here[b]!;
        this.#pairs[pair] = 1;
        for (let c = b + 1; c < here.length; c += 1) this.#triples[pair * count + here[c]!] = 1;
      }
  }

  get pairs(): Met {
    return { met: ones(this.#pairs), of: ways(2) };
  }

  get triples(): Met {
    return { met: ones(this.#triples), of: ways(3) };
  }
}

/** In how many ways values of so many different knobs can stand together. */
function ways(together: number): number {
  const sums = [1, ...Array<number>(together).fill(0)];
  for (const size of sizes) for (let taken = together; taken > 0; taken -= 1) sums[taken]! += sums[taken - 1]! * size;
  return sums[together]!;
}

function ones(bits: Uint8Array): number {
  let sum = 0;
  for (const bit of bits) sum += bit;
  return sum;
}
