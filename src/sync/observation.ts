/**
 * What a sweep observed besides the changes that it made: each change announced, in flight or missed, fields that came or went, counts.
 *
 * All sweeps of a subscribed account record findings, pulls and one-shot commands included, but for the one right after a new verification:
 * no webhook could have announced earlier changes. A difference younger than five minutes is `in_flight`; it becomes a missed change if no
 * delivery comes. A field that appears for the first time is not a missed change, because no delivery need have announced it.
 */
import type { SweepProgress } from '../domain/run.ts';
import { parseInstant } from '../domain/clock.ts';
import { inBatches } from '../domain/concurrency.ts';
import { MirrorError } from '../domain/errors.ts';
import type { Refusal } from '../domain/optional-requests.ts';
import type { ReadStamp, VendorPage, VendorRow } from '../domain/reading.ts';
import { secondLookDelay } from '../domain/retry.ts';
import { balanceFields, kept, movingFields, vendorFields, type Vendor } from '../domain/vendor.ts';
import { changedUnedited, changedValues, isNews, isStored, type Verdict } from '../store/acceptance.ts';
import type { Finding, ObservedFields } from '../store/findings.ts';
import type { ChangeClassifier, Evidence, SweepContext } from '../store/reading-writer.ts';
import { noCounts, type RunCounts, type Sweeping } from '../store/runs.ts';
import type { FindingKind, RunTrigger } from '../store/sql/schema.ts';
import type { SameAccount } from './same-account.ts';
import { IdSet } from './sweep/id-set.ts';
import { firstOfState, sweep, sweepOfState, type SweepPlan, type SweepResult } from './sweep/sweep.ts';
import type { SyncAccount } from './sync-account.ts';

/** What a sweep of the default list observed, besides the changes it made to the mirror. */
export interface Observation extends SweepResult {
  /** Vendors that were seen with other values than stored, which are not accepted yet. */
  readonly guarded: ReadonlySet<number>;
  /** Vendors with a change that an event announces, accepted or not. */
  readonly news: Pick<ReadonlySet<number>, 'has'>;
  /** Of vendors for which that was not accepted: what the list showed otherwise than it is stored, without an edit. */
  readonly contradicted: ReadonlyMap<number, Contradicted>;
  /** Vendors of which the list showed something otherwise than it was stored, without an edit, that hardly moves without one. */
  readonly unedited: readonly number[];
  /** Reasons why records could not be applied, by vendor. */
  readonly unusable: ReadonlyMap<number, string>;
  readonly fields: ObservedFields;
  /** Vendors that the list showed as they were before, with the age of the copy in milliseconds. */
  readonly lagging: ReadonlyMap<number, number>;
  /** Whether all vendors of the list are stored as they were shown, and present. */
  readonly allStored: boolean;
}

export interface Contradicted {
  readonly fields: readonly string[];
  /** Of the page that did so last. */
  readonly stamp: ReadStamp;
}

export interface ObservationOptions {
  readonly context: SweepContext;
  readonly sameAccount: SameAccount;
  readonly counter: RunCounter;
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: SweepProgress) => void) | undefined;
  /** Called with pages after they were applied. */
  readonly onPages?: ((pages: readonly VendorPage[]) => void) | undefined;
}

/** Sweeps the default list of an account, and applies what it shows. */
export async function observe(account: SyncAccount, options: ObservationOptions): Promise<Observation> {
  const { mirror, accountId } = account;
  const { moved, walked } = await mirror.runs.listMoves(accountId);
  const unsent = await mirror.findings.unsent(accountId);
  const observer = new PageObserver({ parsesAll: unsent.length > 0 });
  const plan = sweepPlan(account, options, observer);
  const result = await sweep({ ...plan, ...(await knownOfLists(account)), moves: movesOften(moved, walked) });
  if (result.conclusion.complete && result.conclusion.proof === 'windows')
    await account.optional.honoured('window_size');
  const { guarded, news, contradicted, unedited, lagging, unusable, fields, allStored } = observer;
  return { ...result, guarded, news, contradicted, unedited, lagging, unusable, fields: fields.observed, allStored };
}

/** What is known of all lists of an account: whether their counts count nothing, and sizes of windows are honoured. */
async function knownOfLists({
  optional,
  mirror,
  accountId,
}: SyncAccount): Promise<Pick<SweepPlan, 'mayUseWindows' | 'onSizeDeclined' | 'miscounted'>> {
  return {
    miscounted: (await mirror.accountRegister.listCount(accountId)).miscounted,
    mayUseWindows: (await optional.isHonoured('per_page')) && (await optional.isHonoured('window_size')),
    onSizeDeclined: (error) => optional.declined('window_size', error),
  };
}

export type HiddenObservation = HiddenWalks & Pick<Observation, 'allStored' | 'guarded'>;

/**
 * Sweeps the lists of deleted and archived vendors, where the service has them.
 * @returns as `hiddenWalks`, and what they observed.
 */
export async function observeHidden(account: SyncAccount, options: ObservationOptions): Promise<HiddenObservation> {
  const observer = new PageObserver({ parsesAll: false });
  const walked = await hiddenWalks(account, sweepPlan(account, options, observer));
  return { ...walked, allStored: observer.allStored, guarded: observer.guarded };
}

/** What the lists of hidden states showed. */
interface HiddenWalks {
  readonly seen: IdSet;
  /** States whose list was proven complete and is not empty. */
  readonly states: ReadonlySet<number>;
  /** Vendors at the beginning of the lists, of those too that the service declined before the end: what of these was read need not be applied. */
  readonly firstShown: IdSet;
  /** Whether a list was incomplete, or left out; how often, where the service declined it. */
  readonly lacks: 'nothing' | 'incomplete' | Refusal;
}

const hiddenStates = [1, 2] as const;

/** Sweeps the lists of the states that the default list may hide, as far as the service honours the filter. Their first pages are asked for at once. */
export async function hiddenWalks(account: SyncAccount, plan: SweepPlan): Promise<HiddenWalks> {
  const seen = new IdSet();
  const firstShown = new IdSet();
  const states = new Set<number>();
  let lacks: HiddenWalks['lacks'] = 'nothing';
  const planned = { ...plan, ...(await knownOfLists(account)) };
  const onShown = (vendorids: readonly number[]): void => firstShown.addAll(vendorids);
  const firsts = new Map<1 | 2, Promise<readonly number[]>>();
  for (const state of hiddenStates) {
    const walked = await account.optional.try('search[vis_state]', async () => {
      if (plan.concurrency > 1 && firsts.size === 0) {
        const half = { ...planned, concurrency: Math.floor(plan.concurrency / 2) };
        for (const each of hiddenStates) firsts.set(each, firstOfState(half, each));
        await Promise.allSettled(firsts.values());
      }
      const first = await (firsts.get(state) ?? firstOfState(planned, state));
      return sweepOfState(planned, state, first, onShown);
    });
    if (walked === 'not_tried' || walked instanceof MirrorError)
      return { seen, firstShown, states, lacks: (await account.optional.refusalOf('search[vis_state]')) ?? 'once' };
    if (!walked) continue;
    if (!walked.conclusion.complete) lacks = 'incomplete';
    seen.addAll(walked.seen);
    if (walked.conclusion.complete && walked.conclusion.shown > 0) states.add(state);
  }
  return { seen, firstShown, states, lacks };
}

/** So many are enough to find out. */
const doubted = 20;

/** Collects what the pages of one sweep show. */
class PageObserver {
  readonly guarded = new Set<number>();
  readonly news = new IdSet();
  readonly contradicted = new Map<number, Contradicted>();
  readonly unedited: number[] = [];
  readonly unusable = new Map<number, string>();
  readonly lagging = new Map<number, number>();
  readonly fields: FieldWatch;
  allStored = true;

  /** @param parsesAll as in `FieldWatch` */
  constructor({ parsesAll }: { readonly parsesAll: boolean }) {
    this.fields = new FieldWatch(parsesAll);
  }

  add(verdicts: ReadonlyMap<number, Verdict>, stamp: ReadStamp): void {
    const news: number[] = [];
    for (const [vendorid, verdict] of verdicts) {
      const isGuarded = verdict.kind === 'guarded';
      if (isGuarded) this.guarded.add(vendorid);
      const unedited = isGuarded || verdict.kind === 'updated' ? changedUnedited(verdict) : [];
      if (isGuarded && unedited.length > 0) this.contradicted.set(vendorid, { fields: unedited, stamp });
      if (!isGuarded && this.unedited.length < doubted && unedited.some((field) => !movingFields.has(field)))
        this.unedited.push(vendorid);
      if (isGuarded && verdict.copyAge !== undefined) this.lagging.set(vendorid, verdict.copyAge);
      // A guarded change counts as news; a change without an event answers no delivery.
      if (isGuarded || isNews(verdict)) news.push(vendorid);
      if (verdict.kind === 'rejected') this.unusable.set(vendorid, verdict.reason);
      this.allStored &&= isStored(verdict);
    }
    this.news.addAll(news);
  }
}

function sweepPlan(
  { vendors, mirror, clock, sync, concurrency }: SyncAccount,
  { context, sameAccount, counter, signal, onProgress, onPages }: ObservationOptions,
  observer: PageObserver,
): SweepPlan {
  return {
    vendors,
    apply: inBatches(clock, async (pages: readonly VendorPage[]) => {
      await sameAccount.assert(pages);
      const watched = pages.map((page) => ({ ...page, rows: observer.fields.watch(page.rows) }));
      const applied = await mirror.readings.applyPages(watched, context, (verdicts) => counter.withPages(verdicts));
      counter.set(counter.withPages(applied));
      for (const [nth, { stamp }] of pages.entries()) observer.add(applied[nth] ?? new Map(), stamp);
      onPages?.(pages);
      return applied;
    }),
    onRequest: () => counter.addRequest(),
    clock,
    lag: sync.lag,
    sweepPasses: sync.sweepPasses,
    concurrency,
    signal,
    onProgress,
    pages: mirror.serviceKnowledge,
  };
}

/** Windows cost about a fifth more requests than a plain walk, but save a walk that a moving list spoils. */
const costOfWindows = 0.2;

function movesOften(moved: number, walked: number): boolean {
  return walked > 0 && moved / walked > costOfWindows;
}

/** How long a delivery may be under way, in milliseconds. */
export const inFlightTime = 5 * 60_000;

/** `updated_at` has a resolution of one second, in milliseconds. */
const grain = 1_000;

const balances: ReadonlySet<string> = new Set(balanceFields);

/** A classifier for the changes of a sweep. @param now wall time, milliseconds since 1970 */
function changeClassifier(now: () => number): ChangeClassifier {
  return (vendorid, verdict, evidence) => {
    if (verdict.kind !== 'created' && verdict.kind !== 'updated') return undefined;
    const changed = verdict.kind === 'created' ? [] : verdict.changed;
    const kind = kindOf(verdict);
    if (kind === undefined) return undefined;
    const finding = (as: FindingKind, fields: Finding['fields']): Finding => ({ kind: as, vendorid, fields });
    if (kind === 'balance_only' || kind === 'vanished') return finding(kind, changed);
    const changedAt = changeTime(verdict);
    if (wasAnnounced(evidence, changedAt)) return undefined;
    return changedAt !== undefined && changedAt > now() - inFlightTime
      ? finding('in_flight', { kind, changed })
      : finding(kind, changed);
  };
}

type Change = Extract<Verdict, { kind: 'created' | 'updated' }>;

function kindOf(verdict: Change): FindingKind | undefined {
  if (verdict.kind === 'created') return 'missed_create';
  const { before, after } = verdict;
  if (after.presence !== 'present') return 'vanished';
  const known = changedValues(verdict);
  if (known.length === 0) return undefined;
  // A bill changes a balance without a vendor event.
  if (known.every((field) => balances.has(field))) return 'balance_only';
  if (!isNews(verdict)) return undefined;
  if (after.vis_state === 1 && before.vis_state !== 1) return 'missed_delete';
  if (after.vis_state === 0 && before.vis_state === 1) return 'missed_restore';
  return 'missed_update';
}

function changeTime(verdict: Change): number | undefined {
  const text = verdict.kind === 'created' ? kept(verdict.vendor.updated_at) : verdict.after.updated_at;
  return text == null ? undefined : parseInstant(text);
}

function wasAnnounced({ marked, unanswered }: Evidence, changedAt: number | undefined): boolean {
  if (marked) return true;
  const announcedAt = unanswered === null ? undefined : parseInstant(unanswered);
  return announcedAt !== undefined && changedAt !== undefined && announcedAt >= changedAt + grain;
}

/** Collects the names of the fields that the records of a sweep contain, to detect new and vanished fields. */
class FieldWatch {
  readonly #names = new Set<string>();
  #excluded: VendorRow['excluded'];
  readonly #parsesAll: boolean;
  #parsed = 0;
  #rows = 0;

  /** @param parsesAll rows that equal the stored ones, too: where a field is missed, only they show that it is sent again */
  constructor(parsesAll: boolean) {
    this.#parsesAll = parsesAll;
  }

  /** Wraps rows so that their fields are recorded when they are parsed. */
  watch(rows: readonly VendorRow[]): VendorRow[] {
    this.#rows += rows.length;
    this.#excluded ??= rows[0]?.excluded;
    const watched = rows.map((row) => new WatchedRow(row, this.#notice));
    if (this.#parsesAll) for (const row of watched) row.tryToParse();
    return watched;
  }

  readonly #notice = (vendor: Vendor): void => {
    this.#parsed += 1;
    for (const name of vendorFields) if (vendor[name] !== undefined) this.#names.add(name);
    for (const name of vendor.unknown.keys()) this.#names.add(name);
  };

  /** The fields recorded so far. */
  get observed(): ObservedFields {
    const whole = this.#rows > 0 && this.#parsed >= this.#rows;
    return { names: [...this.#names], whole, excluded: [...(this.#excluded ?? [])] };
  }
}

/** A row that reports when it is parsed. */
class WatchedRow implements VendorRow {
  readonly vendorid: number;
  readonly #row: VendorRow;
  readonly #notice: (vendor: Vendor) => void;

  constructor(row: VendorRow, notice: (vendor: Vendor) => void) {
    this.vendorid = row.vendorid;
    this.#row = row;
    this.#notice = notice;
  }

  get raw(): string {
    return this.#row.raw;
  }

  get excluded(): VendorRow['excluded'] {
    return this.#row.excluded;
  }

  get bytes(): Uint8Array | undefined {
    return this.#row.bytes;
  }

  vendor(): Vendor {
    const vendor = this.#row.vendor();
    this.#notice(vendor);
    return vendor;
  }

  /** A row that cannot be parsed is rejected where it is applied. */
  tryToParse(): void {
    try {
      this.vendor();
    } catch (error) {
      if (!(error instanceof MirrorError)) throw error;
    }
  }
}

export class RunCounter {
  counts: RunCounts = noCounts;

  /** The counts including these pages; a page counts once it is applied. */
  withPages(pages: readonly ReadonlyMap<number, Verdict>[]): RunCounts {
    const counts = { ...this.counts, pages: this.counts.pages + pages.length };
    return pages.reduce((sum, verdicts) => withVerdicts(sum, verdicts.values()), counts);
  }

  addVerdict(verdict: Verdict): void {
    const { seen } = this.counts;
    this.counts = { ...withVerdicts(this.counts, [verdict]), seen };
  }

  addRequest(): void {
    this.counts = { ...this.counts, requests: this.counts.requests + 1 };
  }

  /** Sets the number of vendors that all sweeps of the run showed; a vendor of several walks counts once. */
  setSeen(seen: number): void {
    const { created, updated } = this.counts;
    this.set({ seen, unchanged: Math.max(0, seen - created - updated) });
  }

  set(counts: Partial<RunCounts>): void {
    this.counts = { ...this.counts, ...counts };
  }
}

function withVerdicts(counts: RunCounts, verdicts: Iterable<Verdict>): RunCounts {
  let { seen, created, updated, unchanged } = counts;
  for (const { kind } of verdicts) {
    seen += 1;
    if (kind === 'created') created += 1;
    else if (kind === 'updated') updated += 1;
    else if (kind === 'unchanged' || kind === 'forgotten') unchanged += 1;
  }
  return { ...counts, seen, created, updated, unchanged };
}

/** The context in which the readings of a sweep are applied. */
export async function sweepContext(account: SyncAccount, run: Sweeping): Promise<SweepContext> {
  const { accountId, clock, sync } = account;
  return {
    accountId,
    source: run.kind,
    run,
    runId: run.id,
    deliveryId: null,
    lag: sync.lag,
    readsById: account.reader.mayRead,
    mayLackDetails: !(await account.mirror.details.isProbed(account.accountId)),
    rest: secondLookDelay(sync),
    changeClassifier: (await expectsDeliveries(account, run.trigger)) ? changeClassifier(() => clock.now()) : undefined,
  };
}

/** Whether deliveries should have announced changes: a callback exists, it was not verified just now, and a complete sweep came before. */
async function expectsDeliveries({ mirror, accountId }: SyncAccount, trigger: RunTrigger): Promise<boolean> {
  if (trigger === 'verification') return false;
  return (
    (await mirror.callbacks.knownCallbacks(accountId)).length > 0 &&
    (await mirror.runs.lastComplete(accountId)) !== undefined
  );
}
