/**
 * A pull or reconciliation from start to end: sweep the list, prove it complete, resolve unlisted vendors, record how fresh the mirror is;
 * errors are in its report. Gateways are pulled beside it.
 */
import type { ServiceClient } from '../api/client.ts';
import { vendorOf } from '../api/wire/vendor-fields.ts';
import { timestamp } from '../domain/clock.ts';
import { asMirrorError, MirrorError, type ErrorCode } from '../domain/errors.ts';
import { isStateShown } from '../domain/presence.ts';
import type { VendorPage } from '../domain/reading.ts';
import { endingOf, nextOutcome, type EndedOutcome, type SweepProgress } from '../domain/run.ts';
import type { Finding } from '../store/findings.ts';
import type { Run, RunCounts } from '../store/runs.ts';
import type { ProofKind, RunTrigger } from '../store/sql/schema.ts';
import { allSeen, lacksLists, learnShown, mayLackVendors, ShownStates, sortUnseen, type Unseen } from './absences.ts';
import { attemptOptionsOf, markParkedAgain, settleParked } from './attempt.ts';
import { Breaker, day, isBelieved, refuseShortfall, rememberedSince } from './breaker.ts';
import { readDetails, type DetailsOptions } from './details.ts';
import { observeHidden, RunCounter, sweepContext, type ObservationOptions } from './observation.ts';
import {
  listRefuted,
  nothingResolved,
  observeList,
  refuseEmptyList,
  refuseUnlisted,
  rememberShortfall,
  reportList,
  requireComplete,
  resolveById,
  resolveBySweep,
  sampleListed,
  sampleMiddle,
  type Resolution,
  type SweepOutcome,
} from './resolve.ts';
import { SameAccount } from './same-account.ts';
import { finishRequest, openRequest, postponeRequest, type OpenRequest } from './sweep-requests.ts';
import { IdSet } from './sweep/id-set.ts';
import { withSeenLag, type SyncAccount } from './sync-account.ts';

/** How a run ended. */
export interface RunReport {
  readonly run: Run;
  readonly trigger: RunTrigger;
  readonly seconds: number;
  readonly outcome: EndedOutcome;
  /** How the list was proven complete; null where it was not. */
  readonly proof: ProofKind | null;
  readonly counts: RunCounts;
  readonly error: MirrorError | undefined;
  /** Notes for a person, in sentences. */
  readonly notes: readonly string[];
}

/** Runs one pull or reconciliation of an account. Expected errors end the run and are in the report. */
export async function pull(served: SyncAccount, options: PullOptions): Promise<RunReport> {
  const account = await withSeenLag(served);
  const { mirror, accountId } = account;
  const { kind, trigger } = options;
  const started = account.clock.monotonic();
  await mirror.derivation.renew(vendorOf);
  const run = await mirror.runs.beginRun({ accountId, kind, trigger });
  const { counts, proof, moved, notes, freshness, error, seen } = await new SweepRun(account, options, run).run();
  const outcome = nextOutcome('running', endingOf(kind, error));
  const declined = await mirror.finishSweep(run, {
    outcome,
    counts,
    proof,
    moved,
    error: error?.message ?? null,
    errorCode: error?.code ?? null,
    remedy: error?.remedy,
    safeAsOf: freshness?.safeAsOf ?? null,
    listedAsOf: freshness?.listedAsOf ?? null,
  });
  const seconds = Math.round(account.clock.monotonic() - started) / 1_000;
  if (seen && (outcome === 'complete' || isWithheld(error))) {
    const context = await sweepContext(account, { id: run.id, kind, trigger });
    await readDetails(account, {
      trigger,
      run,
      ...seen,
      context,
      signal: options.signal,
      priority: 'spare',
    });
  }
  return { run, trigger, seconds, outcome, proof, counts, error, notes: [...notes, ...declined] };
}

export interface PullOptions {
  readonly kind: 'pull' | 'reconcile';
  readonly trigger: RunTrigger;
  readonly signal: AbortSignal;
  readonly approved?: number;
  /** Whether a person said that what the service shows is of this account. */
  readonly isAccountAccepted?: boolean;
  readonly onProgress?: (progress: SweepProgress) => void;
  /** Called with the pages of all lists after they were applied. */
  readonly onPages?: (pages: readonly VendorPage[]) => void;
}

export interface RunResult {
  readonly counts: RunCounts;
  /** How the list was proven complete, and whether it moved during the sweep; null where unknown. */
  readonly proof: ProofKind | null;
  readonly moved: boolean | null;
  /** Notes for the run report, in sentences. */
  readonly notes: readonly string[];
  /** Undefined for an incomplete run. */
  readonly freshness: Freshness | undefined;
  readonly error: MirrorError | undefined;
  /** The vendors that its lists showed; undefined where they are not complete. */
  readonly seen: Pick<DetailsOptions, 'seen' | 'news' | 'contradicted' | 'unedited'> | undefined;
}

/** So many lists of one run may be refuted. One that leaves out other vendors each time proves nothing. */
const mostRefuted = 3;

/** Errors of runs that read the lists to their end, and wait for a person's word about other vendors than those that were shown. */
const withheld: ReadonlySet<ErrorCode> = new Set(['breaker_tripped', 'too_many_unreadable', 'list_refuted']);

function isWithheld(error: MirrorError | undefined): boolean {
  return error !== undefined && withheld.has(error.code);
}

/** One walk, and what was concluded from it. */
interface Walk {
  readonly swept: SweepOutcome;
  readonly resolved: Resolution;
  /** Whether vendors are read by id; undefined where none needs to be. */
  readonly readsById: boolean | undefined;
  readonly breaker: Breaker;
}

/** Carries out one run. Its result includes what was learned before a failure. */
class SweepRun {
  readonly #account: SyncAccount;
  readonly #options: PullOptions;
  readonly #run: Run;
  readonly #counter = new RunCounter();
  readonly #notes: string[] = [];
  /** Vendors that refuted the list in this run. */
  readonly #refutedBy = new Set<number>();
  #proof: ProofKind | null = null;
  #moved: boolean | null = null;
  #seen: RunResult['seen'];

  constructor(account: SyncAccount, options: PullOptions, run: Run) {
    this.#account = account;
    this.#options = options;
    this.#run = run;
  }

  /** Runs to the end; errors are in the result. */
  async run(): Promise<RunResult> {
    let freshness: Freshness | undefined;
    let error: MirrorError | undefined;
    try {
      freshness = await this.#runRequested();
    } catch (caught) {
      error = this.#options.signal.aborted ? interruptedError(this.#counter) : asMirrorError(caught);
      if (error.code === 'bug')
        this.#account.log.error({ err: caught }, 'a run failed because of a bug in vendor-mirror');
    }
    const { counts } = this.#counter;
    return { counts, proof: this.#proof, moved: this.#moved, notes: this.#notes, freshness, error, seen: this.#seen };
  }

  async #runRequested(): Promise<Freshness> {
    const request = await openRequest(this.#account);
    try {
      return await this.#runSteps(request);
    } catch (error) {
      if (request && !this.#options.signal.aborted)
        await postponeRequest(this.#account, request, error instanceof MirrorError && isWithheld(error));
      throw error;
    }
  }

  async #runSteps(request: OpenRequest | undefined): Promise<Freshness> {
    const account = this.#account;
    const { kind, trigger, signal, onProgress, onPages } = this.#options;
    const noSpace = trigger === 'command' ? undefined : account.mirror.place.noSpaceForSweep();
    if (noSpace) throw noSpace;
    const { isAccountAccepted = false } = this.#options;
    const context = { ...(await sweepContext(account, { id: this.#run.id, kind, trigger })), isAccountAccepted };
    const requests = { signal, onRequest: () => this.#counter.addRequest() };
    const sameAccount = new SameAccount(account, requests, isAccountAccepted);
    const options = { context, sameAccount, counter: this.#counter, signal, onProgress, onPages };
    const parked = kind === 'reconcile' ? await markParkedAgain(account) : [];

    const leftOut = new Set(await account.mirror.undecided.unlisted(account.accountId));
    let { swept, resolved, readsById, breaker } = await this.#walkAndResolve(leftOut, parked.length, options);
    for (let walks = 1; resolved.refutedBy.length > 0; walks += 1) {
      await this.#recordRefuted(resolved.refutedBy);
      for (const vendorid of resolved.refutedBy) leftOut.add(vendorid);
      if (walks === mostRefuted) throw listRefuted(resolved.refutedBy.length);
      ({ swept, resolved, readsById, breaker } = await this.#walkAndResolve(leftOut, parked.length, options));
    }
    const { list, seen } = swept;
    if (resolved.found > 0) await refuseEmptyList(account, list.conclusion, resolved.found);
    if (resolved.unconfirmed > 0) throw await breaker.trip(resolved.unconfirmed - resolved.unread, resolved.unread);
    const { accepted } = await account.mirror.accountRegister.listCount(account.accountId);
    refuseUnlisted(resolved.unlisted.size, { shown: list.conclusion.shown, accepted }, account.sync.breaker);
    await settleParked(account, parked, seen, readsById ? attemptOptionsOf(options) : undefined);
    await refuseEmptyList(account, list.conclusion, resolved.found);
    await rememberShortfall(account, swept, resolved.withheld);
    if (request) await finishRequest(account, request, { seen, news: list.news });
    const undecidedAsOf = await this.#recordUndecided(resolved);
    const guardedSeq = await this.#guardedSeq(swept);
    const { lacksHidden } = swept;
    return freshnessOf(account, this.#run, { guardedSeq, unreadSeq: resolved.unreadSeq, undecidedAsOf, lacksHidden });
  }

  /** Sweeps the lists, and resolves what they did not show. @param leftOut vendors that lists before left out, though reads by id show them */
  async #walkAndResolve(leftOut: ReadonlySet<number>, parked: number, options: ObservationOptions): Promise<Walk> {
    const swept = { ...(await this.#sweep(options)), leftOut };
    const { present, base } = swept.unseen;
    const breaker = new Breaker(this.#account, this.#run, { present, base, approved: this.#options.approved ?? 0 });
    const readsById = await this.#readsById(swept, parked, options);
    const resolved = await this.#resolve(swept, readsById, breaker, options);
    this.#note(resolved.notes);
    return { swept, resolved, readsById, breaker };
  }

  /** A note that another walk of this run repeats is told once. */
  #note(notes: readonly string[]): void {
    this.#notes.push(...notes.filter((note) => !this.#notes.includes(note)));
  }

  async #recordRefuted(vendorids: readonly number[]): Promise<void> {
    const findings = vendorids.map((vendorid): Finding => ({ kind: 'unlisted', vendorid, fields: [] }));
    await this.#account.mirror.findings.addFindings(this.#run, findings);
    for (const vendorid of vendorids) this.#refutedBy.add(vendorid);
  }

  /** @returns up to when the undecided vendors are known; null where that is unknown, undefined where there are none. */
  async #recordUndecided({ undecided, unlisted }: Resolution): Promise<number | null | undefined> {
    const { mirror, sync, clock } = this.#account;
    const findings = Array.from(undecided, ([vendorid, { code }]): Finding => ({
      kind: 'unreadable',
      vendorid,
      fields: { refused: code },
    }));
    if (findings.length > 0) await mirror.findings.addFindings(this.#run, findings);
    await this.#recordRefuted([...unlisted.keys()].filter((vendorid) => !this.#refutedBy.has(vendorid)));
    const now = clock.now() - (await mirror.moment()) - sync.lag;
    const knownUntil = Array.from(unlisted, ([vendorid, moment]): [number, number] => [vendorid, now + moment]);
    return mirror.undecided.replace(this.#run, undecided, new Map(knownUntil));
  }

  /** Sweeps the lists and sorts the unlisted vendors. @throws MirrorError where the default list is incomplete. */
  async #sweep(options: ObservationOptions): Promise<Omit<SweepOutcome, 'leftOut'>> {
    const account = this.#account;
    const { mirror, accountId, sync } = account;
    const { approved = 0 } = this.#options;
    // What refuted the list before was read since the run began.
    const began = this.#refutedBy.size > 0 ? await mirror.takeStamp() : this.#run.began;
    const marks = await mirror.queue.dueMarks(accountId);
    const observation = await observeList(account, options);
    this.#moved = observation.moved;
    const list = await requireComplete(account, this.#run, observation);
    this.#proof = list.conclusion.proof;
    const hidden = account.extraWalks === 'auto' ? await observeHidden(account, options) : undefined;
    const seen = new IdSet(list.seen);
    if (hidden) seen.addAll(hidden.seen);
    const { news, contradicted, unedited } = list;
    this.#seen = { seen, news, contradicted, unedited };
    this.#counter.setSeen(seen.size);
    this.#note(await reportList(account, this.#run, list));

    const ended = await mirror.moment();
    const known = await mirror.listings.shownStates(accountId);
    const othersFirst = [...(hidden?.firstShown ?? [])].some((vendorid) => !list.seen.has(vendorid));
    const filtersShow = await mirror.listings.filtersShow(accountId, othersFirst || seen.size > list.seen.size);
    // As many vendors are stored as were shown, and all of those are stored: no unlisted ones exist, and no scan is needed.
    const guarded = new Set([...list.guarded, ...(hidden?.guarded ?? [])]);
    const allStored = list.allStored && hidden?.allStored !== false;
    const unseen =
      (allStored ? await this.#ifAllSeen(seen, list.seen, known) : undefined) ??
      (await sortUnseen(mirror.vendors.scannedVendors(accountId), {
        seen,
        listed: list.seen,
        guarded,
        shows: new ShownStates(known, hidden?.states, lacksLists(filtersShow, hidden)),
        dayBegan: await this.#dayBegan(),
        since: rememberedSince(ended),
        began,
        lag: sync.lag,
      }));
    const learned = await learnShown(account, unseen.listings, known, hidden?.states);
    const suspects = unseen.suspects.length;
    this.#counter.set({ suspects });
    const elsewhere = seen.size - list.seen.size + unseen.hidden.length;
    const { accepted } = await mirror.accountRegister.listCount(accountId);
    refuseShortfall(list.conclusion, { elsewhere, accepted }, sync.breaker);
    const believed = isBelieved(list.conclusion, suspects, approved);
    const lacksHidden = mayLackVendors(filtersShow, hidden);
    return {
      began,
      ended,
      marks,
      list,
      seen,
      guarded,
      unseen,
      learned,
      filtersShow,
      lacksHidden,
      isBelieved: believed,
    };
  }

  /** @returns undefined where the stored vendors must be scanned: not all were shown, or a list of one state showed some that may teach something. */
  async #ifAllSeen(
    seen: IdSet,
    listed: IdSet,
    known: { has(state: number | null): boolean },
  ): Promise<Unseen | undefined> {
    const { mirror, accountId } = this.#account;
    if ((await mirror.vendors.countVendors(accountId)) !== seen.size) return undefined;
    const states = await mirror.listings.statesOf(accountId);
    if (seen.size === listed.size) return allSeen(seen.size, states);
    const mayLearn = [...states].some(
      ([state, vendors]) =>
        state !== 0 && !known.has(state) && isStateShown(false, { shown: vendors, leftOut: 0, found: 0 }),
    );
    return mayLearn ? undefined : allSeen(seen.size);
  }

  /** When the day of the breaker began, as a timestamp of ours: 24 hours ago, or with the first complete sweep. */
  async #dayBegan(): Promise<string> {
    const { mirror, accountId, clock } = this.#account;
    const yesterday = timestamp(clock.now() - day);
    const first = (await mirror.runs.firstComplete(accountId)) ?? timestamp(clock.now());
    return first > yesterday ? first : yesterday;
  }

  /** The lowest `read_seq` of vendors that are too young to be contradicted, or that were, and that no later reading showed. */
  async #guardedSeq({ guarded, unseen: { guardedSeq }, began }: SweepOutcome): Promise<number | undefined> {
    const { mirror, accountId } = this.#account;
    const contradicted = guarded.size > 0 ? await mirror.vendors.traits(accountId, [...guarded]) : [];
    const open = contradicted.map(({ read_seq }) => read_seq).filter((readSeq) => readSeq <= began.readSeq);
    const lowest = Math.min(guardedSeq ?? Infinity, ...open);
    return lowest === Infinity ? undefined : lowest;
  }

  /** Whether vendors are read by id; undefined where none needs to be. */
  async #readsById(swept: SweepOutcome, parked: number, options: ObservationOptions): Promise<boolean | undefined> {
    const { mirror, accountId, reader } = this.#account;
    const { suspects, hidden, absent } = swept.unseen;
    const toBeRead = suspects.length + hidden.length + absent.length + parked;
    if (toBeRead === 0 && (await mirror.queue.countMarks(accountId)) === 0) return undefined;
    const listed = (): Promise<number[]> => sampleListed(this.#account, swept);
    // Where the list shows no vendor, what was announced or deleted may be hidden by it.
    const unlisted = async (): Promise<number[]> =>
      suspects.length > 0
        ? sampleMiddle(suspects)
        : [...(await listed()), ...[...hidden, ...swept.marks].map(({ vendorid }) => vendorid)];
    const isEmpty = swept.list.conclusion.shown === 0;
    return reader.isOffered(isEmpty ? () => Promise.resolve([]) : listed, attemptOptionsOf(options), unlisted);
  }

  async #resolve(
    swept: SweepOutcome,
    readsById: boolean | undefined,
    breaker: Breaker,
    options: ObservationOptions,
  ): Promise<Resolution> {
    if (readsById === undefined) return nothingResolved;
    return readsById
      ? resolveById(this.#account, swept, breaker, options)
      : resolveBySweep(this.#account, swept, breaker, options);
  }
}

export function interruptedError({ counts }: RunCounter): MirrorError {
  const pages = counts.pages === 1 ? 'one page' : `${counts.pages} pages`;
  return new MirrorError('interrupted', `Interrupted after ${pages}; what was read is kept.`);
}

/** Moments, Unix ms, up to which the mirror is complete; null where the current clock cannot say. */
interface Freshness {
  /** `safeAsOf`: for all vendors; `listedAsOf`: for those that lists show. */
  readonly safeAsOf: number | null;
  readonly listedAsOf: number | null;
}

/** What limits the freshness; the numbers are of the oldest readings that the run could not replace, undefined for none. */
export interface FreshnessLimits {
  /** Of vendors that were stored too recently to be contradicted. */
  readonly guardedSeq: number | undefined;
  /** Of hidden vendors that were not read. */
  readonly unreadSeq: number | undefined;
  /** Up to when the undecided vendors are known, milliseconds since 1970; null where that is unknown, undefined where there are none. */
  readonly undecidedAsOf: number | null | undefined;
  /** Whether vendors that are not known may be in a list that was not read. */
  readonly lacksHidden: boolean;
}

/** How fresh the mirror is after a complete run. */
async function freshnessOf(
  { mirror, accountId, sync, serviceTime }: SyncAccount,
  run: Run,
  { guardedSeq, unreadSeq, undecidedAsOf, lacksHidden }: FreshnessLimits,
): Promise<Freshness> {
  // By a clock that is wrong, no moment can be named.
  if (serviceTime.aheadBy !== null) return { listedAsOf: null, safeAsOf: null };
  const began = await mirror.runs.runStart(run);
  if (began === undefined) return { listedAsOf: null, safeAsOf: null };
  const before = async (readSeq: number | undefined): Promise<number | undefined> =>
    readSeq === undefined ? began : await mirror.runs.runStartBefore(accountId, readSeq, began);
  const [listed, unread] = [await before(guardedSeq), await before(unreadSeq)];
  if (listed === undefined) return { listedAsOf: null, safeAsOf: null };
  const hiddenAsOf = lacksHidden ? await mirror.runs.lastSafeAsOf(accountId) : Infinity;
  return {
    listedAsOf: listed - sync.lag,
    safeAsOf:
      unread === undefined || undecidedAsOf === null || hiddenAsOf === null
        ? null
        : Math.min(listed - sync.lag, unread - sync.lag, undecidedAsOf ?? Infinity, hiddenAsOf),
  };
}

/** Mirrors the gateways of an account, in one transaction. */
export interface GatewayCount {
  readonly seen: number;
  readonly removed: number;
}

/**
 * Mirrors the gateways, which the service may decline. One counts as removed only when a second list, requested at once, does not show it either, and every row of both
 * could be used: one that could not may be of that gateway.
 */
export async function pullGateways(
  account: GatewaysOf,
  signal: AbortSignal,
): Promise<GatewayCount | { readonly declined: MirrorError | null }> {
  const counts = await account.client.optional.try('gateways', () => readGateways(account, signal));
  if (counts === 'not_tried') return { declined: null };
  return counts instanceof MirrorError ? { declined: counts } : counts;
}

interface GatewaysOf extends Pick<SyncAccount, 'mirror' | 'accountId' | 'log'> {
  readonly client: Pick<ServiceClient, 'gateways' | 'optional'>;
}

async function readGateways(
  { client: { gateways }, mirror, accountId, log }: GatewaysOf,
  signal: AbortSignal,
): Promise<GatewayCount> {
  const rejected = new Set<string>();
  const onRejected = (reason: string): unknown => rejected.add(reason);
  const listed = await gateways.list({ signal, onRejected });
  const enabled = await mirror.gateways.enabledGateways(accountId);
  const here = new Set(listed.map(({ sgid }) => sgid));
  const second = enabled.every((sgid) => here.has(sgid)) ? [] : await gateways.list({ signal, onRejected });
  const both = [...listed, ...second.filter(({ sgid }) => !here.has(sgid))];
  for (const reason of rejected) log.warn({ account: accountId }, `a gateway cannot be used: ${reason}`);
  const removed = await mirror.gateways.putGateways(accountId, both, { whole: rejected.size === 0 });
  return { seen: both.length, removed };
}
