/** Random values that can be repeated: the same seed gives the same sequence. */

export interface SeededRandom {
  /** From 0 up to, but not including, 1. */
  fraction(): number;
  /** A whole number from 0 up to, but not including, `limit`. */
  below(limit: number): number;
  happens(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
  /** `length` characters of `alphabet`. */
  text(length: number, alphabet: string): string;
  /** The numbers from 0 up to `length`, in any order. */
  permutation(length: number): Int32Array;
  shuffle<T>(list: readonly T[]): T[];
}

/** A 32-bit seed from anything that has a text. */
export function seedOf(...parts: readonly (string | number)[]): number {
  let hash = 0x811c9dc5;
  for (const character of parts.join('\u0000')) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return mix(hash, 0);
}

/** A 32-bit number that looks unrelated for each pair (murmur's finaliser). */
export function mix(seed: number, index: number): number {
  let hash = (seed ^ Math.imul(index + 1, 0x9e3779b1)) | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The sequence of `seed` (mulberry32). */
export function seededRandom(seed: number): SeededRandom {
  let state = seed | 0;
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(fraction() * limit);
  const permutation = (length: number): Int32Array => {
    const mixed = new Int32Array(length);
    for (let next = 0; next < length; next += 1) {
      const other = below(next + 1);
      mixed[next] = mixed[other] ?? 0;
      mixed[other] = next;
    }
    return mixed;
  };
  return {
    fraction,
    below,
    happens: (probability) => fraction() < probability,
    pick: (list) => list[below(list.length)] as (typeof list)[number],
    text(length, alphabet) {
      let text = '';
      while (text.length < length) text += alphabet.charAt(below(alphabet.length));
      return text;
    },
    permutation,
    shuffle: (list) => Array.from(permutation(list.length), (index) => list[index] as (typeof list)[number]),
  };
}
