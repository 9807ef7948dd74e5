/**
 * Reads vendors by id for what lists leave out. After each run that read the lists to their end, some listed vendors are read to find out
 * whether lists leave anything out; where they do, first the vendors that are new or whose listed row changed are read, then those of all
 * others that were not for a day, longest unread first.
 *
 * A field that lists show otherwise than those reads do, without an edit, is left out too, once enough vendors show it:
 * - two, of a field that changes with edits only;
 * - of what moves without an edit, three of those that were drawn, and most of those of them that have it: one may have moved since the list;
 * - two, and one in a hundred, of which it is proven.
 * Two more reads of some of them must agree: what differs in every answer is unsteady, and no list could carry it. Where one read differs,
 * twenty more are made.
 *
 * It is proven of a vendor by what one list after the other showed. A list showed it, then a read by id showed it otherwise and was stored. A
 * later list showed it exactly as the earlier one; that is not applied, but asked about (`store/lagging-copies.ts`), and a read by id showed it
 * as it was stored. No edit lay between, by `updated_at`. Nor was the list late, where that came ten minutes later or more: no copy is that
 * old. What moves would have had to go to and fro twice, the second time within the seconds between list and read.
 *
 * Fewer vendors than that are remembered one by one: what lists show of the field is applied for all others, and these are read by id after
 * each list, which is one request for at most one vendor in a hundred. To learn it of all would make it as old as a day for all.
 *
 * None of this loses an edit, however it is hidden in lists: the vendor's row is stored without the field, and the field as the next read by id
 * shows it, of one of few in the same run, of others in their turn. Nor does an error last: the first list that shows such a field of
 * such a vendor as it is stored takes it back.
 *
 * Where lists carry every field, these are 200 requests once, and one after each further run. All of it takes only the spare part of the rate,
 * and little time of a run; what is left over waits for the next one.
 */
import { sleep } from '../domain/clock.ts';
import { eachBounded } from '../domain/concurrency.ts';
import { MirrorError } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { readRetryLimits } from '../domain/retry.ts';
import { movingFields } from '../domain/vendor.ts';
import { changedUnedited, isStored, type Verdict } from '../store/acceptance.ts';
import { enoughProbed } from '../store/details.ts';
import type { Run } from '../store/runs.ts';
import type { RunTrigger } from '../store/sql/schema.ts';
import { tryRead, type AttemptOptions } from './attempt.ts';
import type { Observation } from './observation.ts';
import type { IdSet } from './sweep/id-set.ts';
import type { ReadResult, SyncAccount } from './sync-account.ts';

/** Listed vendors that are read to find out: after the first runs until so many were read, or all; then after each run, of all and of changed ones. */
const probes = { first: enoughProbed, later: 1, changed: 20, doubted: 20 };

/**
 * How many vendors must show a field otherwise than the list did, of one that moves, and one in how many of the listed ones where it is proven;
 * how many of them are read twice more, and of how many that is tried.
 */
const witnesses = { usual: 2, moving: 3, oneIn: 100, readAgain: 3, tried: 8 };

/** Two reads with this time between, in milliseconds, show what differs in every answer. */
const betweenReads = 1_100;

/** How long one run begins reads, in milliseconds: other runs of the account wait for it, or a person. */
const longest = { others: 120_000, person: 3_000 };

/** How long the first and the last of them may take, in milliseconds: where each takes longer than a person waits, none would ever end. */
const longestRead = 5_000;

/** So many changed vendors that could not be read stay before all others for the next run. */
const mostLeftDue = limits.detailsOthers / 2;

export interface DetailsOptions extends AttemptOptions {
  readonly run: Run;
  readonly trigger: RunTrigger;
  /** The vendors that the lists of the run showed. */
  readonly seen: IdSet;
  /** Those of them that had changed, beside others. */
  readonly news: Observation['news'];
  readonly contradicted: Observation['contradicted'];
  readonly unedited: Observation['unedited'];
}

/** Finds out what lists leave out, and reads it. A failure of the service ends it: the next run goes on. */
export async function readDetails(account: SyncAccount, options: DetailsOptions): Promise<void> {
  const [spent, deadline] = [new AbortController(), new AbortController()];
  const signal = AbortSignal.any([options.signal, deadline.signal]);
  const ms = options.trigger === 'command' ? longest.person : longest.others;
  const timers = [account.clock.timer(ms + 2 * longestRead, () => deadline.abort(new Error('The next run goes on.')))];
  try {
    const details = new DetailReader(account, { ...options, signal, spent: spent.signal });
    if (!(await details.isOffered())) return;
    // A process that begins asks that first, which may take as long as a person waits.
    timers.push(account.clock.timer(ms, () => spent.abort(new Error('The time for reads is spent.'))));
    await details.run();
  } catch (error) {
    if (!(error instanceof MirrorError) && !signal.aborted) throw error;
  } finally {
    for (const cancel of timers) cancel();
  }
}

interface ReaderOptions extends DetailsOptions {
  /** Aborted when no further read may be sent. */
  readonly spent: AbortSignal;
}

class DetailReader {
  readonly #account: SyncAccount;
  readonly #options: ReaderOptions;
  /** Vendors of which a read by id showed a field otherwise than the list, without an edit. */
  readonly #otherwise = new VendorsByField();
  /** Those of which that is proven. */
  readonly #proven = new VendorsByField();

  constructor(account: SyncAccount, options: ReaderOptions) {
    this.#account = account;
    this.#options = options;
  }

  /** Whether reads by id are, by those of some listed vendors. */
  async isOffered(): Promise<boolean> {
    const { mirror, accountId, reader } = this.#account;
    const ids = [...this.#options.seen];
    if (ids.length === 0) return false;
    const some = async (): Promise<number[]> => [
      ...(await mirror.vendors.newestActive(accountId)),
      ...sample(ids, await mirror.details.probed(accountId), probes.first),
    ];
    return reader.isOffered(some, this.#options, () => Promise.resolve([]));
  }

  async run(): Promise<void> {
    const { mirror, accountId } = this.#account;
    const { seen, run } = this.#options;
    const ids = [...seen];
    await this.#askForUnsent();
    const before = await mirror.details.probed(accountId);
    const known = await mirror.details.learned(accountId);
    const since = this.#account.clock.now() - this.#options.context.lag;
    const few = new Set([...(await mirror.details.shownOfFew(accountId)).values()].flat());
    await this.#read([...few].filter((vendorid) => seen.has(vendorid)));
    const vendorids = known.fields.length === 0 ? await this.#probe(ids, before) : [];
    const isMore = await this.#compare(ids, vendorids);
    const { fields, isEnrolled } = await mirror.details.learned(accountId);
    if (fields.length === 0) return mirror.details.release(accountId);
    if (isMore || !isEnrolled) await mirror.details.enrol(run, fields, { vendorids: isMore ? [] : vendorids, since });
    const waiting = await mirror.details.next(accountId, limits.detailsChanged + limits.detailsOthers);
    // Those that lists hide are read by id anyway, in a turn of their own.
    const hidden = waiting.filter(({ vendorid }) => !seen.has(vendorid)).map(({ vendorid }) => vendorid);
    const listed = waiting.filter(({ vendorid }) => seen.has(vendorid));
    const due = listed.filter(({ isDue }) => isDue).slice(0, limits.detailsChanged);
    const read = new Set(vendorids);
    const others = listed.filter(({ isDue, vendorid }) => !isDue && !read.has(vendorid)).slice(0, limits.detailsOthers);
    const inTurn = [...due, ...others].map(({ vendorid }) => vendorid);
    const { failed, refused } = await this.#read(inTurn);
    const changed = new Set(waiting.filter(({ isDue }) => isDue).map(({ vendorid }) => vendorid));
    // The next run may read these; but many must not stand before all others each time.
    const mayFollow = [...failed, ...hidden].filter((vendorid) => changed.has(vendorid));
    const stay = new Set(mayFollow.length <= mostLeftDue ? mayFollow : []);
    const inVain = [...failed, ...refused, ...hidden].filter((vendorid) => !stay.has(vendorid));
    if (inVain.length > 0) await mirror.details.readInVain(run, inVain);
    if (!isMore && (await this.#compare(ids, inTurn)))
      await mirror.details.enrol(run, (await mirror.details.learned(accountId)).fields, { vendorids: [], since });
  }

  /** Fields that lists stopped to show, though the mirror holds values of them: where reads by id carry them, lists leave them out from now on. */
  async #askForUnsent(): Promise<void> {
    const { mirror, accountId } = this.#account;
    for (const { field } of await mirror.findings.unsent(accountId)) {
      const holders = await mirror.details.holders(accountId, field, witnesses.readAgain);
      const shown = [...(await this.#shownById(field, holders))].filter(([, json]) => json !== undefined);
      if (shown.length === 0) continue;
      const vendorids = shown.map(([vendorid]) => vendorid);
      await mirror.details.learnLeftOut(accountId, field, vendorids);
    }
  }

  /**
   * Learns which fields lists show otherwise than reads by id.
   * @param read vendors that were read by id, because they were in turn
   * @returns whether there are any that were not known
   */
  async #compare(ids: readonly number[], read: readonly number[]): Promise<boolean> {
    const { mirror, accountId } = this.#account;
    const { run, unedited } = this.#options;
    const drawn = new Set(read);
    if (this.#otherwise.size > 0 || unedited.length > 1) {
      const more = sample(ids, turnOf(run, ids.length), probes.doubted);
      const fresh = [...new Set([...more, ...unedited])].filter((vendorid) => !drawn.has(vendorid));
      if (drawn.size < probes.first) await this.#read(fresh);
      for (const vendorid of more) drawn.add(vendorid);
    }
    await this.#noteConfirmed();
    const known = await mirror.details.shownOfFew(accountId);
    const [ofAll, ofFew] = [new Map<string, readonly number[]>(), new Map<string, readonly number[]>()];
    for (const field of this.#otherwise.keys()) {
      const proven = this.#proven.of(field);
      const few = [...new Set([...(known.get(field) ?? []), ...proven])];
      const many = few.length >= Math.max(witnesses.usual, ids.length / witnesses.oneIn) ? few : undefined;
      const among = many ?? (await this.#witnessesOf(field, drawn));
      const asked = among.length > 0 ? among : proven;
      if (asked.length === 0 || !(await this.#isSteady(field, asked.slice(0, witnesses.tried)))) continue;
      if (among.length > 0) ofAll.set(field, among);
      else ofFew.set(field, few);
    }
    this.#otherwise.clear();
    if (ofFew.size > 0) await mirror.details.learnOfFew(accountId, ofFew);
    if (ofAll.size > 0) await mirror.details.learnShown(accountId, ofAll);
    return ofAll.size > 0;
  }

  /** The list contradicted some vendors, each of which was marked for that; a read by id has confirmed some of them since. */
  async #noteConfirmed(): Promise<void> {
    const { mirror, accountId } = this.#account;
    const { contradicted, context } = this.#options;
    for (const { vendorid, ...stored } of await mirror.vendors.traits(accountId, [...contradicted.keys()])) {
      const shown = contradicted.get(vendorid);
      if (!shown || stored.read_seq <= shown.stamp.readSeq || stored.held_since_ms > shown.stamp.begun) continue;
      const held = shown.stamp.begun - stored.held_since_ms;
      for (const field of shown.fields) {
        this.#otherwise.add(field, vendorid);
        if (held >= (movingFields.has(field) ? limits.copyBelievedAfter : context.lag))
          this.#proven.add(field, vendorid);
      }
    }
  }

  /** Of vendors that show a field otherwise, those by which that is learned; none where they are too few. */
  async #witnessesOf(field: string, drawn: ReadonlySet<number>): Promise<readonly number[]> {
    const vendorids = this.#otherwise.of(field);
    if (!movingFields.has(field)) return vendorids.length >= witnesses.usual ? vendorids : [];
    const { mirror, accountId } = this.#account;
    const among = vendorids.filter((vendorid) => drawn.has(vendorid));
    if (among.length < witnesses.moving) return [];
    return 2 * among.length > (await mirror.details.holding(accountId, field, [...drawn])) ? among : [];
  }

  /** Whether two more reads of most of some vendors, and of two if there are, show the same. Of one that no read shows, others take the place. */
  async #isSteady(field: string, vendorids: readonly number[]): Promise<boolean> {
    const first = await this.#shownById(field, vendorids);
    await sleep(this.#account.clock, betweenReads, this.#options.signal);
    const second = await this.#shownById(field, [...first.keys()]);
    const differing = [...second].flatMap(([vendorid, json]) => (first.get(vendorid) === json ? [] : [vendorid]));
    const { mirror } = this.#account;
    if (differing.length > 0) await mirror.details.noteDiffering(this.#options.run, field, differing);
    const steady = second.size - differing.length;
    return steady >= Math.min(witnesses.usual, vendorids.length) && 2 * steady > second.size;
  }

  /** A field of the first vendors that are shown, as JSON, as the service shows it by id now. */
  async #shownById(field: string, vendorids: readonly number[]): Promise<ReadonlyMap<number, string | undefined>> {
    const { vendors } = this.#account;
    const { signal, priority } = this.#options;
    const shown = new Map<number, string | undefined>();
    for (const vendorid of vendorids) {
      if (shown.size === witnesses.readAgain) break;
      try {
        const { row } = await vendors.read(vendorid, { signal, priority, retryLimits: readRetryLimits });
        shown.set(vendorid, JSON.stringify((JSON.parse(row.raw) as Record<string, unknown>)[field]));
      } catch (error) {
        if (signal.aborted || !(error instanceof MirrorError) || error.code === 'service_unreachable') throw error;
      }
    }
    return shown;
  }

  /** Reads some listed vendors, so that the mirror can compare. Once enough were read, one that shows something is proof. @returns those that were shown */
  async #probe(ids: readonly number[], before: number): Promise<readonly number[]> {
    const { mirror, accountId } = this.#account;
    const enough = Math.min(probes.first, ids.length);
    const isEnough = before >= enough;
    const { run, news, contradicted } = this.#options;
    const changed = ids
      .filter((vendorid) => news.has(vendorid) && !contradicted.has(vendorid))
      .slice(0, probes.changed);
    const probed = isEnough
      ? [...sample(ids, turnOf(run, ids.length), probes.later), ...changed]
      : sample(ids, before, probes.first - before);
    const { shown, failed, refused } = await this.#read(probed);
    // Lists may show deleted vendors that no read by id finds.
    const asked = shown.length > 0 ? shown.length + failed.length + refused.length : 0;
    if (!isEnough && asked > 0) await mirror.details.addProbed(accountId, asked);
    if (before + asked >= enough && (await mirror.details.isSuspected(accountId)))
      await mirror.details.learnSuspected(accountId);
    return shown;
  }

  /** Reads a vendor, unless the read still waits for its place in the rate when the time is spent; undefined where it was not made. */
  async #readUnlessSpent(vendorid: number): Promise<ReadResult | undefined> {
    const { signal, spent } = this.#options;
    if (spent.aborted || signal.aborted) return undefined;
    const unsent = new AbortController();
    const giveUp = (): void => unsent.abort(spent.reason);
    const onSend = (): void => spent.removeEventListener('abort', giveUp);
    spent.addEventListener('abort', giveUp);
    const either = AbortSignal.any([signal, unsent.signal]);
    try {
      return await tryRead(this.#account, vendorid, { ...this.#options, signal: either, onSend });
    } catch (error) {
      // What was read until then counts.
      if (either.aborted) return undefined;
      throw error;
    } finally {
      onSend();
    }
  }

  /** @returns the vendors that reads showed, and those that they did not. */
  async #read(vendorids: readonly number[]): Promise<Record<'shown' | 'failed' | 'refused', readonly number[]>> {
    const shown: number[] = [];
    const failed: number[] = [];
    const refused: number[] = [];
    await eachBounded(vendorids, this.#account.concurrency, async (vendorid) => {
      const found = await this.#readUnlessSpent(vendorid);
      if (!found) return;
      // The service as a whole fails: it is not asked for the others now.
      if (found.kind === 'refused' && found.error.code === 'service_unreachable') throw found.error;
      if (found.kind === 'record') this.#note(vendorid, found.verdict);
      if (found.kind !== 'record') (isPassing(found) ? failed : refused).push(vendorid);
      else if (isStored(found.verdict)) shown.push(vendorid);
    });
    return { shown, failed, refused };
  }

  /** A read by id differs from what is stored, which the list showed. */
  #note(vendorid: number, verdict: Verdict): void {
    if (verdict.kind !== 'updated' && verdict.kind !== 'guarded') return;
    for (const field of changedUnedited(verdict)) this.#otherwise.add(field, vendorid);
  }
}

/** Whether a read failed by what may be over with the next run. A token that is refused for one vendor is not refused as a whole. */
function isPassing(found: Exclude<ReadResult, { kind: 'record' }>): boolean {
  return found.kind === 'refused' && (found.error.retry || found.error.code === 'unauthenticated');
}

class VendorsByField extends Map<string, Set<number>> {
  add(field: string, vendorid: number): void {
    this.set(field, (this.get(field) ?? new Set()).add(vendorid));
  }

  of(field: string): readonly number[] {
    return [...(this.get(field) ?? [])];
  }
}

/**
 * A step of that walk for each run, in time all of them, whichever numbers the runs have: those of other accounts and kinds lie between. The steps
 * of a count would leave out half of the vendors where each second run is another account's; multiples of this number fill any interval.
 */
export function turnOf({ id }: Run, length: number): number {
  return Math.floor(((id * 0.6180339887498949) % 1) * length);
}

/** So many of the ids, spread evenly, as an endless walk that shows each of them before it repeats itself; from its step `from` on. */
export function sample(ids: readonly number[], from: number, count: number): number[] {
  const { length } = ids;
  let stride = Math.max(1, Math.round(length * 0.618));
  while (greatestCommonDivisor(stride, length) > 1) stride += 1;
  const steps = Array.from({ length: Math.min(count, length) }, (_, nth) => ((from + nth) * stride) % length);
  return steps.flatMap((step) => ids[step] ?? []);
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
