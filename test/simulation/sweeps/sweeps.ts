/** Sweeps of scripted lists: each run asks whether a vendor that stood still was missed by a sweep that calls itself complete. */
import { seededRandom, seedOf, type SeededRandom } from '../../../src/sandbox/core/random.ts';
import type { ProofKind } from '../../../src/store/sqlite/schema.ts';
import { sweep } from '../../../src/sync/sweep/sweep.ts';
import { orders, ScriptedList, type Change, type ListWorld, type Script } from './scripted-list.ts';

export interface Swept {
  /** How the sweep was proven complete; undefined where it was not. */
  readonly proof: ProofKind | undefined;
  /** Vendors that must have been seen, and were not. */
  readonly lost: readonly number[];
  readonly requests: number;
  /** Whether something was done to the list while it was swept. */
  readonly moved: boolean;
}

/** In short lists, fewer neighbours must do to tell an order; where the order is another one, as many as in life. */
const pairsOf = ({ order, vendors }: ListWorld): number =>
  order === 'name' || order === 'shuffled' || vendors >= 20 ? 20 : 6;

export async function swept(world: ListWorld, script: Script, seed: number): Promise<Swept> {
  const list = new ScriptedList(world, script, seed);
  const { conclusion, seen } = await sweep({
    vendors: { page: (page, { size = world.cap } = {}) => Promise.resolve(list.page(page, size)) },
    apply: (page) => Promise.resolve(list.apply(page)),
    onRequest: () => undefined,
    clock: list.clock,
    sweepPasses: 12,
    concurrency: 1 + (seed % 3),
    moves: seed % 2 === 0,
    lag: world.lag * 1_000,
    enoughPairs: pairsOf(world),
    signal: new AbortController().signal,
  });
  const proof = conclusion.complete ? conclusion.proof : undefined;
  // Windows show those that moved, too, unless copies are old.
  const due = proof === 'windows' && world.lag === 0 ? list.listed : list.still;
  const lost = proof === undefined ? [] : due.filter((vendorid) => !seen.has(vendorid));
  return { proof, lost, requests: list.requests, moved: list.moved };
}

/** The world of a seed. */
export function worldOf(seed: number): ListWorld {
  const random = seededRandom(seedOf(seed, 'world'));
  const isPlain = random.happens(0.4);
  const seldom = (value: number): number => (isPlain || random.happens(0.6) ? 0 : value);
  return {
    order: random.pick(orders),
    vendors: 4 + random.below(6),
    cap: 4 + random.below(3),
    held: random.pick(['none', 'all', 'some']),
    hidesDeleted: random.happens(0.7),
    told: random.happens(0.3),
    lag: seldom(2),
    clockAhead: seldom(2),
    zone: seldom(5),
    stalePages: seldom(1) === 1,
    unshown: seldom(1 + random.below(2)),
    group: isPlain || random.happens(0.5) ? 1 : 2 + random.below(2),
    sizeHonoured: random.happens(0.9),
  };
}

/** So many changes, each somewhere before one of the first requests, to one of the first vendors. */
export function scriptOf(seed: number, changes: number, requests = 9, vendors = 9): Script {
  const random = seededRandom(seedOf(seed, 'script'));
  return Array.from({ length: changes }, () => ({
    before: random.below(requests),
    change: changeOf(random, vendors),
  }));
}

function changeOf(random: SeededRandom, vendors: number): Change {
  const kind = random.pick(['insert', 'delete', 'restore', 'touch', 'touch'] as const);
  return kind === 'insert' ? { kind } : { kind, nth: random.below(vendors) };
}

/** Every script of up to `most` changes to a list of `vendors` among its first `requests` requests. */
export function* everyScript(most: number, vendors: number, requests: number): Generator<Script> {
  yield [];
  if (most === 0) return;
  const changes: Change[] = [
    { kind: 'insert' },
    ...(['delete', 'touch'] as const).flatMap((kind) =>
      Array.from({ length: vendors }, (_, nth): Change => ({ kind, nth })),
    ),
    { kind: 'restore', nth: 0 },
    { kind: 'restore', nth: 1 },
  ];
  for (const rest of everyScript(most - 1, vendors, requests))
    for (let before = rest[0]?.before ?? requests; before >= 0; before--)
      for (const change of changes) if (rest.length === most - 1) yield [{ before, change }, ...rest];
}
