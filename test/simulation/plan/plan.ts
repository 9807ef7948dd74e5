/** What one seed holds: a world, a program's settings, what people do, and what goes wrong. Every point is a knob with a plain value. */
import { InvalidArgumentError } from 'commander';
import { seededRandom, seedOf } from '../../../src/sandbox/core/random.ts';
import { faultKinds, type FaultKind, parseWorld, worldAxes, type World } from '../../../src/sandbox/core/worlds.ts';

type Value = string | number;

/** The first value is the plain one; a value that stands more than once is likelier. */
type Knob = readonly [Value, ...Value[]];

function valuesOf(knob: keyof World): readonly string[] {
  return worldAxes.find(({ key }) => key === knob)?.values ?? [];
}

/**
 * Amounts of worlds, choices that would leave too little to see if they came as often as others, and choices that are limited. Left out are
 * values with which some seeds break a promise today, because of defects that are known and not mended, or of which no seed was tried: `total`
 * that is capped or nothing, other answers past the end, times in two zones.
 */
const worldKnobs: Readonly<Partial<Record<keyof World, Knob>>> = {
  /** Plain records would teach less, and seeds that were kept met odd ones. */
  records: ['odd'],
  /** The oracle of writes looks for names as they were sent. */
  tidies: ['no'],
  paging: [...Array<string>(12).fill('honoured'), 'ignored', 'echoed', 'zero'] as unknown as Knob,
  pastEnd: ['empty', '404', 'last'],
  /** The program is told them in its settings. */
  pageNames: ['per_page'],
  pageZero: ['422', 'first'],
  serviceTime: ['utc', 'local'],
  unlistedIds: [0, 0, 2],
  /** Such vendors refute each sweep for ever: what becomes of them, unit tests say. */
  unlistedRows: [0],
  /** Counts that are right are likelier: nothing else leads to windows of lists that rest. */
  total: ['right', 'right', 'right', 'counts_hidden', 'fewer', 'page'],
  pages: ['counted', 'counted', 'counted', 'one', 'endless'],
  listLag: [0, 0, 2, 4],
  readLag: [0, 0, 2, 4],
  readOne: ['yes', 'yes', 'yes', '404', '405'],
  listedAs: [...Array<string>(5).fill('whole'), ...valuesOf('listedAs')] as unknown as Knob,
  objectId: ['resource', 'resource', 'resource', 'resource', 'callback', 'text'],
  listArchived: ['shown', 'shown', 'hidden'],
  listDeleted: ['hidden', 'shown', 'recent'],
  refuses: ['none', 'none', 'none', 'none', 'none', 'none', 'state', 'sizes', 'per_page', 'gateways', 'all'],
  attempts: [5, 2],
  retryAfter: [15],
  retryGrowth: [4],
  disableAfter: [1440, 1440, 3],
};

const faultRates: Knob = [0, 0, 0, 0, 0.02, 0.1];

const ownKnobs = {
  accounts: [1, 2, 2, 2],
  vendors: [12, 0, 1, 3, 20, 35, 45],
  rows: [5, 3, 15, 100],
  concurrency: [4, 1],
  extraWalks: ['auto', 'never'],
  breaker: [3, 20],
  vendorsRate: [600, 600, 60],
  /** How long a request and its answer travel at most, in milliseconds. */
  latency: [60, 60, 800, 4_000, 12_000],
  /** What takes so long: everything, or lists alone, which news then overtakes. */
  slow: ['all', 'all', 'lists'],

  /** Long phases take much time, and are drawn more seldom for it. */
  minutes: [14, 14, 8, 10, 8, 10, 10, 10, 10, 10, 22, 10],
  /** Changes a minute. */
  changes: [2, 2, 1, 6, 20],
  /** Vendors that several people edit within a second; `again` once more, about when they are looked at a second time. */
  hot: ['no', 'yes', 'again'],
  /** How often that happens. */
  bursts: [5, 30],
  /** Commands a minute by which a person writes to each account's vendors. */
  writes: [0, 0, 0, 1, 3],
  mass: ['none', 'none', 'import', 'delete_few', 'delete_many', 'both'],

  outage: ['none', 'none', '503', '401', '403', 'hang', 'reset', 'html', 'errors_in_200', 'empty_list'],
  outageMinutes: [2, 6],
  crashes: [0, 0, 1, 2, 4],
  /** What dies with the process: nothing else, or the machine, whose monotonic time then restarts. */
  crashOf: ['process', 'process', 'machine'],
  downtime: [2, 2, 60],
  restarts: [0, 0, 1],
  stops: [0, 0, 2],
  suspends: [0, 0, 1],
  jumps: [0, 0, 2],
  /** What somebody does to our callback at the service. */
  callbackLost: ['no', 'no', 'no', 'removed', 'disabled'],
  busy: [0, 0, 3],
  full: [0, 0, 1],

  lose: [0, 0, 0.2, 1],
  late: [0, 0, 0.2],
  repeat: [0, 0, 0.3],
  reorder: [0, 0, 0.3],
  answersLost: [0, 0, 0.2],
  forge: [0, 0.2],
} as const satisfies Record<string, Knob>;

/** What goes wrong with a server, where one keeps the mirror. */
const serverKnobs = {
  /** Connections that are cut at an edge of a transaction, and all of them at once. */
  cuts: [0, 0, 2, 6],
  /** How often the server is started again, and how many seconds it is away then, at most. */
  serverRestarts: [0, 0, 1, 3],
  serverAway: [2, 20, 90],
  /** Whether a second process works on the same mirror, and takes itself for the only one. */
  second: ['no', 'no', 'yes'],
} as const satisfies Record<string, Knob>;

type ServerKnobs = { readonly [Key in keyof typeof serverKnobs]: (typeof serverKnobs)[Key][number] };

type OwnKnobs = { readonly [Key in keyof typeof ownKnobs]: (typeof ownKnobs)[Key][number] };

export interface Plan extends OwnKnobs {
  readonly seed: number;
  readonly world: World;
  /** Probability of each fault for each request. */
  readonly faults: Readonly<Partial<Record<FaultKind, number>>>;
  /** Where a server keeps the mirror. */
  readonly server: ServerKnobs;
  /** Every knob as it was drawn, by name. */
  readonly drawn: Drawn;
}

/** Every knob by name, of worlds whose mirror is a file. */
export const fileKnobs: Readonly<Record<string, Knob>> = {
  ...Object.fromEntries(
    worldAxes.map(({ key, values }) => [key, worldKnobs[key] ?? (values as unknown as Knob)] as const),
  ),
  ...Object.fromEntries(Object.keys(faultKinds).map((kind) => [`fault:${kind}`, faultRates] as const)),
  ...ownKnobs,
};

/** Every knob by name, of worlds whose mirror is on a server. */
export const knobs: Readonly<Record<string, Knob>> = { ...fileKnobs, ...serverKnobs };

/** Knobs that are turned, by name; all others stand at their plain values. */
export type Drawn = Readonly<Record<string, Value>>;

/** What a seed draws. Each knob has a stream of its own, so that a new one changes no other. */
export function drawnBy(seed: number, isOnServer: boolean): Drawn {
  const drawn = Object.fromEntries(
    Object.entries(isOnServer ? knobs : fileKnobs).map(([name, values]) => [
      name,
      seededRandom(seedOf(seed, 'knob', name)).pick(values),
    ]),
  );
  // Of a list whose every page is the first, and that counts the rows of one page, nobody can know that there is more.
  const hasOnePage = drawn['total'] === 'page' && ['ignored', 'echoed'].includes(String(drawn['paging']));
  return hasOnePage ? { ...drawn, total: 'right' } : drawn;
}

/** The knobs that are not plain, as `name=value name=value`. */
export function wordsOf(drawn: Drawn): string {
  return Object.entries(drawn)
    .filter(([name, value]) => knobs[name]?.[0] !== value)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}

/** The other way round. @throws InvalidArgumentError where there is no such knob, or it has no such value. */
export function drawnFrom(words: string): Drawn {
  return Object.fromEntries(
    words.split(/\s+/).flatMap((word) => {
      if (word === '') return [];
      const [, name = '', text = ''] = /^(.*)=(.*)$/.exec(word) ?? [];
      const value = knobs[name]?.find((known) => String(known) === text);
      if (value === undefined) throw new InvalidArgumentError(`There is no “${word}” among the knobs.`);
      return [[name, value]];
    }),
  );
}

/** The plan of a seed with the knobs that are turned, and everything else plain. */
export function planOf(seed: number, turned: Drawn): Plan {
  const drawn = { ...Object.fromEntries(Object.entries(knobs).map(([name, [plain]]) => [name, plain])), ...turned };
  const own = Object.fromEntries(Object.keys(ownKnobs).map((name) => [name, drawn[name]])) as unknown as OwnKnobs;
  const server = Object.fromEntries(
    Object.keys(serverKnobs).map((name) => [name, drawn[name]]),
  ) as unknown as ServerKnobs;
  const world = parseWorld(worldAxes.map(({ key }) => `${key}=${String(drawn[key])}`));
  const faults = Object.fromEntries(
    Object.keys(faultKinds).flatMap((kind) => {
      const rate = drawn[`fault:${kind}`];
      return rate === 0 ? [] : [[kind, rate]];
    }),
  );
  return { ...own, seed, world, faults, server, drawn };
}

/** Whether lists of one state show vendors of that state alone: the program asks in the usual form. */
export function honoursStateFilter({ world }: Plan): boolean {
  return world.visStateFilter === 'honoured' && ['search', 'any'].includes(world.filterForm);
}

/** How many vendors a page of this plan's world holds. */
export function rowsOnPage({ rows, world }: Plan): number {
  if (world.refuses === 'per_page' || world.refuses === 'all') return 15;
  return { ignored: 15, capped: rows, honoured: rows, all: Infinity }[world.perPage];
}
