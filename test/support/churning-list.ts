/**
 * A paged list in memory whose rows come, go and move between requests, and beside it a mirror as plain as can be, which
 * others fill as well.
 */
import { timestamp } from '../../src/domain/clock.ts';
import type { VendorPage, VendorRow } from '../../src/domain/reading.ts';
import type { Verdict } from '../../src/store/decide/verdict.ts';
import type { Vendor, VisState } from '../../src/domain/vendor.ts';
import { seededRandom, type SeededRandom } from '../../src/sandbox/core/random.ts';

export const orders = ['id', 'newest', 'updated', 'updated_newest', 'shuffled'] as const;
export type Order = (typeof orders)[number];

interface Row {
  readonly vendorid: number;
  readonly created: number;
  updated: number;
  state: VisState;
  readonly readable: boolean;
}

export interface ChurnPlan {
  readonly seed: number;
  readonly order: Order;
  readonly vendors: number;
  readonly perPage: number;
  /** Probability of each kind of change between two requests; several of a kind may happen between the same two. */
  readonly changes: number;
  /** How likely a delivery tells of a change, so that the vendor is read by its number before a page shows it. */
  readonly told: number;
  /** How many rows are counted and never shown. */
  readonly unreadable: number;
}

const start = Date.UTC(2026, 10, 20, 12);

export class ChurningList {
  readonly #plan: ChurnPlan;
  readonly #random: SeededRandom;
  readonly #rows: Row[] = [];
  /** Vendors that were listed when the first request came, and to which nothing happened since. */
  readonly #still = new Set<number>();
  /** What the mirror holds: the state, and the number of the reading that showed it. */
  readonly #held = new Map<number, { state: VisState; updated: number; readSeq: number; since: number }>();
  #now = start;
  #readSeq = 0;
  #walked = false;

  constructor(plan: ChurnPlan) {
    this.#plan = plan;
    this.#random = seededRandom(plan.seed);
    for (let index = 0; index < plan.vendors; index++) this.#insert(start - 86_400_000 + index * 1_000);
    // The mirror knows most of them, as they were: some have been deleted, restored or created since.
    for (const row of this.#rows.filter(isReadable)) {
      if (this.#random.happens(0.9))
        this.#held.set(row.vendorid, { state: row.state, updated: row.updated, readSeq: 0, since: 0 });
      if (this.#random.happens(0.1)) row.state = 1;
    }
  }

  get still(): ReadonlySet<number> {
    return this.#still;
  }

  /** Vendors that are listed now. */
  get listed(): number[] {
    return this.#rows.filter((row) => this.#isListed(row) && row.readable).map(({ vendorid }) => vendorid);
  }

  /** Answers one request, after life went on for a while. */
  page(number: number): VendorPage {
    if (!this.#walked) for (const vendorid of this.listed) this.#still.add(vendorid);
    else this.#live();
    this.#walked = true;
    const { perPage } = this.#plan;
    const rows = this.#ordered();
    return {
      stamp: { readSeq: ++this.#readSeq, begun: this.#now },
      page: number,
      pages: Math.ceil(rows.length / perPage),
      perPage,
      total: rows.length,
      servedAt: second(this.#now),
      rows: rows
        .slice((number - 1) * perPage, number * perPage)
        .filter(isReadable)
        .map(onWire),
    };
  }

  /** Applies a page to the plain mirror. */
  apply(page: VendorPage): ReadonlyMap<number, Verdict> {
    const verdicts = new Map<number, Verdict>();
    for (const row of page.rows)
      if (!verdicts.has(row.vendorid)) verdicts.set(row.vendorid, this.#take(row.vendor(), page.stamp.readSeq));
    return verdicts;
  }

  #take(vendor: Vendor, readSeq: number): Verdict {
    const { vendorid, vis_state: state = 0, updated_at = null } = vendor;
    const held = this.#held.get(vendorid);
    if (held && readSeq <= held.readSeq) return { kind: 'stale' };
    const updated = Date.parse(`${updated_at?.replace(' ', 'T') ?? ''}Z`);
    if (held?.state === state && held.updated === updated)
      return { kind: 'unchanged', heldSince: held.since, visState: state };
    this.#held.set(vendorid, { state, updated, readSeq, since: this.#now });
    if (!held) return { kind: 'created', vendor };
    const before = { vis_state: held.state, presence: 'present', updated_at: null } as const;
    return {
      kind: 'updated',
      before,
      after: { vis_state: state, presence: 'present', updated_at },
      changed: ['updated_at'],
    };
  }

  #live(): void {
    this.#now += this.#random.below(1_500);
    const { changes } = this.#plan;
    for (const change of [this.#create, this.#remove, this.#edit, this.#restore])
      while (this.#random.happens(changes)) change.call(this);
  }

  #create(): void {
    this.#overhear(this.#insert(this.#now));
  }

  #overhear({ vendorid, state, updated }: Row): void {
    if (this.#random.happens(this.#plan.told))
      this.#held.set(vendorid, { state, updated: second(updated), readSeq: ++this.#readSeq, since: this.#now });
  }

  #insert(created: number): Row {
    const vendorid = (this.#rows.at(-1)?.vendorid ?? 1_000) + 1 + this.#random.below(5);
    const readable = this.#rows.length >= this.#plan.unreadable;
    const row: Row = { vendorid, created, updated: created, state: 0, readable };
    this.#rows.push(row);
    return row;
  }

  #remove(): void {
    this.#change((row) => this.#isListed(row) && row.readable, 1);
  }

  /** Moves the row where the order follows edits. */
  #edit(): void {
    this.#change((row) => this.#isListed(row) && row.readable);
  }

  /** One that was deleted before the sweep, and may be unknown to be so, comes back. */
  #restore(): void {
    this.#change((row) => row.state === 1 && row.updated < start, 0);
  }

  #change(isMeant: (row: Row) => boolean, state?: VisState): void {
    const candidates = this.#rows.filter(isMeant);
    if (candidates.length === 0) return;
    const row = this.#random.pick(candidates);
    row.updated = this.#now;
    row.state = state ?? row.state;
    this.#still.delete(row.vendorid);
    this.#overhear(row);
  }

  #isListed({ state }: Row): boolean {
    return state !== 1;
  }

  #ordered(): Row[] {
    const rows = this.#rows.filter((row) => this.#isListed(row));
    const { order } = this.#plan;
    if (order === 'newest') return rows.reverse();
    if (order === 'shuffled') return this.#random.shuffle(rows);
    if (order === 'updated') return rows.sort((a, b) => a.updated - b.updated);
    if (order === 'updated_newest') return rows.sort((a, b) => b.updated - a.updated);
    return rows;
  }
}

/** The service tells times in whole seconds. */
function second(ms: number): number {
  return ms - (ms % 1_000);
}

function isReadable({ readable }: Row): boolean {
  return readable;
}

function onWire({ vendorid, created, updated, state }: Row): VendorRow {
  return {
    vendorid,
    raw: '',
    vendor: () => ({
      vendorid,
      vis_state: state,
      created_at: timestamp(created).slice(0, 19),
      updated_at: timestamp(updated).slice(0, 19),
      unknown: new Map(),
    }),
  };
}
