/**
 * A paged list of a few vendors in memory, to which a script does something between any two requests, and beside it a mirror as plain
 * as can be. Whatever the service's documentation leaves open is a field of the world.
 */
import { timestamp, type Clock } from '../../../src/domain/clock.ts';
import { MirrorError } from '../../../src/domain/errors.ts';
import type { VendorPage, VendorRow } from '../../../src/domain/reading.ts';
import { seededRandom, type SeededRandom } from '../../../src/sandbox/core/random.ts';
import type { Verdict } from '../../../src/store/acceptance.ts';
import { kept, type VisState } from '../../../src/domain/vendor.ts';

export const orders = [
  'id',
  'id_newest',
  'created',
  'created_newest',
  'updated',
  'updated_newest',
  'name',
  'shuffled',
] as const;

/**
 * What `total` counts: every place of the list; some fewer; no more than fill one page; the rows of this page; the rows that are shown, although
 * others leave holes; nothing.
 */
export const counts = ['right', 'fewer', 'capped', 'page', 'shown', 'zero'] as const;

/** `pages`: as many as `total` fills, one, or a billion. */
export const pageCounts = ['counted', 'one', 'endless'] as const;

/** A page past the last one. */
export const pastEnds = ['empty', 'refused', 'html', 'last', 'first'] as const;

export interface ListWorld {
  readonly order: (typeof orders)[number];
  /** Vendors at the start, and the most rows on a page. */
  readonly vendors: number;
  readonly cap: number;
  /** Which vendors the mirror holds before the sweep. */
  readonly held: 'none' | 'all' | 'some';
  /** Whether lists show deleted vendors. */
  readonly hidesDeleted: boolean;
  /** Whether each change is told, so that another reading brings it before a page does. */
  readonly told: boolean;
  /** How old a copy may be that answers a list, and by how much the clock that dates answers is ahead of stamps, in seconds. */
  readonly lag: number;
  readonly clockAhead: number;
  /** Hours by which stamps are behind UTC: those of creation, and those of updates. */
  readonly zone: number;
  readonly zoneOfUpdates: number;
  /** `total` and `pages` may have been counted before the rows were read, in the same request and of the same copy. */
  readonly stalePages: boolean;
  /** Rows that are counted and never shown, among the others. */
  readonly unshown: number;
  /** Whether as many more as fill a page are counted and never shown, those that were created after the first page. */
  readonly hidesPage: boolean;
  /** Vendors by twos or threes were created, and updated, at one time; their order is another one for each size of a page. */
  readonly group: number;
  /** Whether the size of a page is honoured up to the cap. */
  readonly sizeHonoured: boolean;
  readonly counts: (typeof counts)[number];
  readonly pageCount: (typeof pageCounts)[number];
  readonly firstPage: 0 | 1;
  readonly pastEnd: (typeof pastEnds)[number];
  /** Whether every page is answered with the first one. */
  readonly pageIgnored: boolean;
}

export type Change =
  { readonly kind: 'insert' } | { readonly kind: 'delete' | 'restore' | 'touch'; readonly nth: number };

/** Before which request, from 0, something is done. */
export type Script = readonly { readonly before: number; readonly change: Change }[];

interface Row {
  readonly vendorid: number;
  readonly created: number;
  updated: number;
  state: VisState;
  readonly shown: boolean;
  readonly name: number;
}

interface Held {
  readonly state: VisState;
  readonly updated: number;
  readonly readSeq: number;
  readonly since: number;
}

const start = Date.UTC(2026, 10, 20, 12);
const second = 1_000;

export class ScriptedList {
  readonly #world: ListWorld;
  readonly #script: Script;
  readonly #random: SeededRandom;
  readonly #held = new Map<number, Held>();
  readonly #changed = new Set<number>();
  /** The rows after each change, the latest last, and when they became so. */
  readonly #states: { at: number; rows: readonly Row[] }[];
  #now = start;
  #readSeq = 0;
  #requests = 0;

  constructor(world: ListWorld, script: Script, seed: number) {
    this.#world = world;
    this.#script = script;
    this.#random = seededRandom(seed);
    const hidden = world.unshown + (world.hidesPage ? world.cap : 0);
    const rows = Array.from({ length: world.vendors + hidden }, (_, index) => this.#invent(index));
    this.#states = [{ at: -Infinity, rows }];
    for (const row of rows) if (row.shown && this.#isHeldAtFirst()) this.#hold(row);
    // One vendor was deleted long ago; the mirror does not know.
    const old = rows.find(({ shown }, index) => shown && index > 0);
    if (old && world.vendors > 3) old.state = 1;
  }

  /** Vendors that lists showed all along and that did not change. */
  get still(): number[] {
    return this.listed.filter((vendorid) => !this.#changed.has(vendorid));
  }

  /** Vendors that lists showed all along, wherever they moved. */
  get listed(): number[] {
    const isShown = (row: Row | undefined): boolean => row !== undefined && row.shown && this.#isListed(row);
    return (this.#states[0]?.rows ?? [])
      .map(({ vendorid }) => vendorid)
      .filter((id) => this.#states.every(({ rows }) => isShown(rows.find(({ vendorid }) => vendorid === id))));
  }

  /** Whether anything was done before the last request. */
  get moved(): boolean {
    return this.#changed.size > 0;
  }

  /** The clock of the sweep: what waits is done at once, and time has passed. */
  readonly clock: Clock = {
    now: () => this.#now,
    monotonic: () => this.#now - start,
    timer: (ms, run) => {
      this.#now += ms;
      queueMicrotask(run);
      return () => undefined;
    },
    yield: () => Promise.resolve(),
  };

  get requests(): number {
    return this.#requests;
  }

  /** Answers one request, after the script has done what comes before it. */
  page(page: number, asked: number): VendorPage {
    const begun = (this.#now += second / 4);
    for (const { before, change } of this.#script) if (before === this.#requests) this.#do(change);
    this.#requests += 1;
    this.#now += second / 4;
    const { cap, sizeHonoured, stalePages, lag } = this.#world;
    const size = sizeHonoured ? Math.min(asked, cap) : cap;
    const moment = this.#now - this.#random.fraction() * lag * second;
    const counting = stalePages ? this.#random.fraction() * (this.#now - begun) : 0;
    const listed = this.#listed(this.#rowsAt(moment), size);
    const shown = this.#shownOn(page, size, listed);
    const total = this.#totalOf(this.#listed(this.#rowsAt(moment - counting), size), shown);
    return {
      stamp: { readSeq: ++this.#readSeq, begun },
      page,
      pages: { counted: Math.ceil(total / size), one: 1, endless: 1_000_000_000 }[this.#world.pageCount],
      perPage: size,
      total,
      servedAt: floor(this.#now) + this.#world.clockAhead * second,
      rows: shown.map((row) => this.#onWire(row)),
    };
  }

  /** The rows of a page. @throws MirrorError as this service words it that there is no such page. */
  #shownOn(page: number, size: number, listed: readonly Row[]): Row[] {
    const { firstPage, pastEnd, pageIgnored } = this.#world;
    const last = Math.max(0, Math.ceil(listed.length / size) - 1);
    let nth = pageIgnored ? 0 : Math.max(0, page - firstPage);
    if (nth > last && pastEnd === 'refused') throw new MirrorError('rejected', 'Invalid page.', { errno: 1014 });
    if (nth > last && pastEnd === 'html') throw new MirrorError('not_found', 'Nothing there.', { status: 404 });
    if (nth > last && pastEnd === 'last') nth = last;
    if (nth > last && pastEnd === 'first') nth = 0;
    return listed.slice(nth * size, (nth + 1) * size).filter(({ shown }) => shown);
  }

  #totalOf(listed: readonly Row[], onPage: readonly Row[]): number {
    switch (this.#world.counts) {
      case 'right':
        return listed.length;
      case 'fewer':
        return Math.max(0, listed.length - 1 - (this.#world.vendors % 3));
      case 'capped':
        return Math.min(listed.length, this.#world.cap);
      case 'page':
        return onPage.length;
      case 'shown':
        return listed.filter(({ shown }) => shown).length;
      case 'zero':
        return 0;
    }
  }

  /** Applies a page to the plain mirror. */
  apply(page: VendorPage): ReadonlyMap<number, Verdict> {
    return new Map(page.rows.map((row) => [row.vendorid, this.#take(row, page.stamp.readSeq)]));
  }

  #take(row: VendorRow, readSeq: number): Verdict {
    const vendor = row.vendor();
    const { vendorid } = vendor;
    const [state, updated_at] = [kept(vendor.vis_state) ?? 0, kept(vendor.updated_at) ?? null];
    const held = this.#held.get(vendorid);
    if (held && readSeq <= held.readSeq) return { kind: 'stale' };
    const updated = Date.parse(`${updated_at?.replace(' ', 'T') ?? ''}Z`);
    if (held?.state === state && held.updated === updated)
      return { kind: 'unchanged', heldSince: held.since, visState: state };
    this.#held.set(vendorid, { state, updated, readSeq, since: this.#now });
    if (!held) return { kind: 'created', vendor };
    return {
      kind: 'updated',
      before: { vis_state: held.state, presence: 'present', updated_at: null, held_since_ms: held.since },
      after: { vis_state: state, presence: 'present', updated_at },
      changed: ['updated_at'],
    };
  }

  #invent(index: number): Row {
    const { group, unshown, hidesPage, cap } = this.#world;
    const created = start - 86_400_000 + Math.floor(index / group) * 60 * second;
    // In the order of updates they stand otherwise than in that of creation.
    const place = (index * 5) % 11;
    const updated = created + 3_600_000 + Math.floor(place / group) * 3 * 60 * second;
    return {
      vendorid: 1_001 + index * 2,
      created,
      updated,
      state: 0,
      shown: !(hidesPage && Math.floor(index / cap) === 1) && (index % 3 !== 2 || Math.floor(index / 3) >= unshown),
      name: this.#random.below(1_000_000),
    };
  }

  #isHeldAtFirst(): boolean {
    const { held } = this.#world;
    return held === 'all' || (held === 'some' && this.#random.happens(0.5));
  }

  #hold({ vendorid, state, updated }: Row): void {
    this.#held.set(vendorid, {
      state,
      updated: this.#told(updated),
      readSeq: this.#readSeq,
      since: this.#now - 60 * second,
    });
  }

  #do(change: Change): void {
    this.#now += second / 4;
    const rows = (this.#states.at(-1)?.rows ?? []).map((row) => ({ ...row }));
    const row = change.kind === 'insert' ? this.#insert(rows) : this.#alter(rows, change.kind, change.nth);
    if (!row) return;
    this.#changed.add(row.vendorid);
    this.#states.push({ at: this.#now, rows });
    if (this.#world.told && row.shown)
      this.#held.set(row.vendorid, {
        state: row.state,
        updated: this.#told(row.updated),
        readSeq: ++this.#readSeq,
        since: this.#now,
      });
  }

  #insert(rows: Row[]): Row {
    const row: Row = {
      vendorid: 1_001 + rows.length * 2,
      created: this.#now,
      updated: this.#now,
      state: 0,
      shown: true,
      name: this.#random.below(1_000_000),
    };
    rows.push(row);
    return row;
  }

  #alter(rows: readonly Row[], kind: 'delete' | 'restore' | 'touch', nth: number): Row | undefined {
    const isMeant = ({ state, shown }: Row): boolean => shown && (kind === 'restore' ? state === 1 : state === 0);
    const meant = rows.filter(isMeant);
    const row = meant[nth % Math.max(1, meant.length)];
    if (!row) return undefined;
    row.updated = this.#now;
    if (kind !== 'touch') row.state = kind === 'delete' ? 1 : 0;
    return row;
  }

  #rowsAt(moment: number): readonly Row[] {
    return (this.#states.findLast(({ at }) => at <= moment) ?? this.#states[0]!).rows;
  }

  #isListed({ state }: Row): boolean {
    return state !== 1 || !this.#world.hidesDeleted;
  }

  #listed(rows: readonly Row[], size: number): Row[] {
    const listed = rows.filter((row) => this.#isListed(row));
    const { order } = this.#world;
    if (order === 'shuffled') return this.#random.shuffle(listed);
    const key = keys[order];
    const sign = order.endsWith('_newest') ? -1 : 1;
    return listed.sort((a, b) => sign * (key(a) - key(b)) || mixed(a.vendorid, size) - mixed(b.vendorid, size));
  }

  #told(ms: number, zone = this.#world.zoneOfUpdates): number {
    return floor(ms) - zone * 3_600_000;
  }

  #onWire({ vendorid, created, updated, state }: Row): VendorRow {
    const text = (ms: number, zone?: number): string => timestamp(this.#told(ms, zone)).slice(0, 19);
    return {
      vendorid,
      raw: '',
      vendor: () => ({
        vendorid,
        vis_state: state,
        created_at: text(created, this.#world.zone),
        updated_at: text(updated),
        unknown: new Map(),
      }),
    };
  }
}

const keys: Readonly<Record<Exclude<ListWorld['order'], 'shuffled'>, (row: Row) => number>> = {
  id: ({ vendorid }) => vendorid,
  id_newest: ({ vendorid }) => vendorid,
  created: ({ created }) => floor(created),
  created_newest: ({ created }) => floor(created),
  updated: ({ updated }) => floor(updated),
  updated_newest: ({ updated }) => floor(updated),
  name: ({ name }) => name,
};

/** The service tells and keeps times in whole seconds. */
function floor(ms: number): number {
  return ms - (ms % second);
}

/** An order of rows of one time, as arbitrary as a database's without a tie-breaker, and another one for each size of a page. */
function mixed(vendorid: number, size: number): number {
  return Math.imul(vendorid * 2_654_435_761 + size * 40_503, 0x9e3779b1) >>> 0;
}
