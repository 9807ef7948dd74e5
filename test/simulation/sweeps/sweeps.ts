/** Sweeps of scripted lists: each run asks whether a vendor that stood still was missed by a sweep that calls itself complete. */
import { IdSet } from '../../../src/sync/sweep/id-set.ts';
import { seededRandom, seedOf, type SeededRandom } from '../../../src/sandbox/core/random.ts';
import type { ProofKind } from '../../../src/store/sql/schema.ts';
import { MirrorError } from '../../../src/domain/errors.ts';
import { absenceBound } from '../../../src/sync/breaker.ts';
import type { PageFacts, PageMemory } from '../../../src/store/service-knowledge.ts';
import { sweep, type SweepPlan, type SweepResult } from '../../../src/sync/sweep/sweep.ts';
import {
  counts,
  orders,
  pageCounts,
  pastEnds,
  ScriptedList,
  type Change,
  type ListWorld,
  type Script,
} from './scripted-list.ts';

export interface Swept {
  /** How the sweep was proven complete; undefined where it was not. */
  readonly proof: ProofKind | undefined;
  /** Vendors that must have been seen, and were not. */
  readonly lost: readonly number[];
  /** The list counts too few, which nothing told before, and the sweep showed exactly as many: what it missed, nobody could know. */
  readonly isDeceived: boolean;
  readonly requests: number;
  /** Whether something was done to the list while it was swept. */
  readonly moved: boolean;
}

/** In short lists, fewer neighbours must do to tell an order; where the order is another one, as many as in life. */
const pairsOf = ({ order, vendors }: ListWorld): number =>
  order === 'name' || order === 'shuffled' || vendors >= 20 ? 20 : 6;

export async function swept(world: ListWorld, script: Script, seed: number): Promise<Swept> {
  const list = new ScriptedList(world, script, seed);
  const isKnown = seed % 5 < 2;
  const miscounted = isKnown && undercounts.has(world.counts);
  const pages = await memoryOf(world, seed);
  const result = await sweepOf(list, world, seed, { pages, miscounted });
  const { conclusion, seen } = result;
  // A person accepts whole pages that are hidden, and nothing else.
  const isShort =
    !world.hidesPage &&
    conclusion.complete &&
    conclusion.unreadable > absenceBound(conclusion.shown, { vendors: 20, percent: 10 });
  const proof = conclusion.complete && !isShort ? conclusion.proof : undefined;
  // Windows show those that moved, too, unless copies are old.
  const due = proof === 'windows' && world.lag === 0 ? list.listed : list.still;
  const lost = proof === undefined ? [] : due.filter((vendorid) => !seen.has(vendorid));
  const isDeceived =
    lost.length > 0 && undercounts.has(world.counts) && !isKnown && conclusion.complete && conclusion.unreadable === 0;
  return { proof, lost, isDeceived, requests: list.requests, moved: list.moved };
}

/** `total` may be less than the list shows. */
const undercounts: ReadonlySet<ListWorld['counts']> = new Set(['fewer', 'capped', 'page', 'zero']);

function sweepOf(
  list: ScriptedList,
  world: ListWorld,
  seed: number,
  known: Pick<SweepPlan, 'pages' | 'miscounted'>,
): Promise<Pick<SweepResult, 'conclusion' | 'seen'>> {
  // Where nothing is remembered, page 1 may come without rows by a fault, as a list of nobody.
  let isEmptied = seed % 7 === 3;
  return sweep({
    ...known,
    vendors: {
      page: (page, options) => {
        const answer = list.page(page, options?.size ?? world.cap);
        options?.onStamp?.(answer.stamp);
        if (page !== 1 || !isEmptied) return Promise.resolve(answer);
        isEmptied = false;
        return Promise.resolve({ ...answer, total: 0, pages: 0, rows: [] });
      },
    },
    apply: (page) => Promise.resolve(list.apply(page)),
    onRequest: () => undefined,
    clock: list.clock,
    sweepPasses: 12,
    concurrency: 1 + (seed % 3),
    moves: seed % 2 === 0,
    lag: world.lag * 1_000,
    enoughPairs: pairsOf(world),
    signal: new AbortController().signal,
  }).catch(failed);
}

/** What is remembered of the service: nothing, what is so, or what a sweep learned within a day while the list had one page. */
async function memoryOf(world: ListWorld, seed: number): Promise<PageMemory> {
  let known: Omit<PageFacts, 'mayAsk'> =
    seed % 7 < 3
      ? { firstPage: world.firstPage, largestPage: world.cap, countsLists: !undercounts.has(world.counts) }
      : { firstPage: undefined, largestPage: 0, countsLists: false };
  let mayAsk = true;
  const memory: PageMemory = {
    read: () => Promise.resolve({ ...known, mayAsk }),
    learnFirstPage: (firstPage) => {
      mayAsk = false;
      return Promise.resolve(void (known = { ...known, firstPage }));
    },
    learn: (met) => Promise.resolve(void (known = { ...known, ...met })),
  };
  if (seed % 7 === 5) {
    const short = { ...world, vendors: 1 + (seed % world.cap) };
    await sweepOf(new ScriptedList(short, [], seed), short, seed, { pages: memory });
  }
  return memory;
}

/** A sweep that failed is as good as one that is incomplete. */
function failed(error: unknown): Pick<SweepResult, 'conclusion' | 'seen'> {
  if (!(error instanceof MirrorError) || error.code === 'bug') throw error;
  return { conclusion: { complete: false, why: error.message, startsOver: true }, seen: new IdSet() };
}

/** The world of a seed. */
export function worldOf(seed: number): ListWorld {
  const random = seededRandom(seedOf(seed, 'world'));
  const isPlain = random.happens(0.4);
  const seldom = (value: number): number => (isPlain || random.happens(0.6) ? 0 : value);
  const world: Omit<ListWorld, keyof ReturnType<typeof claimsOf> | 'hidesPage'> = {
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
  const claims = claimsOf(seed, world.zone);
  // Where they are not counted, or every page is the empty first one, nobody can know that more stand behind it. Without an order, no page stays empty.
  const mayKnow = claims.counts === 'right' && !claims.pageIgnored && world.order !== 'shuffled';
  const hidesPage = mayKnow && seededRandom(seedOf(seed, 'hidden')).happens(0.2);
  return { ...world, ...claims, hidesPage };
}

/** What the service says of its list, or does past its end; in half of the worlds as it should be. */
function claimsOf(
  seed: number,
  zone: number,
): Pick<ListWorld, 'counts' | 'pageCount' | 'firstPage' | 'pastEnd' | 'pageIgnored' | 'zoneOfUpdates'> {
  const random = seededRandom(seedOf(seed, 'claims'));
  const isPlain = random.happens(0.5);
  const seldom = <T>(usual: T, values: readonly T[]): T =>
    isPlain || random.happens(0.5) ? usual : random.pick(values);
  const counted = seldom('right', counts);
  return {
    counts: counted,
    pageCount: seldom('counted', pageCounts),
    firstPage: seldom(1, [0]),
    pastEnd: seldom('empty', pastEnds),
    zoneOfUpdates: seldom(zone, [0, 5]),
    // Of a list whose every page is the first, and that counts no more rows than fill it, nobody can know that there is more.
    pageIgnored: counted === 'right' && seldom(false, [true, false, false]),
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
