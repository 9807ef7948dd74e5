/**
 * Compares the service with the mirror, field by field; changes no vendor. Lists are compared whole. Some vendors, or all, are read by id
 * besides, because lists may leave fields out; where they are known to, the report says of how many vendors these fields were not compared, and
 * calls nothing equal.
 *
 * The service changes meanwhile. A vendor that differs is read again, and compared with what the mirror holds then. What no sync could have
 * avoided is told apart, and does not make the outcome "different": balances, which move without any event, and vendors that changed while
 * they were compared or that a delivery has announced.
 */
import { vendorOf } from '../api/wire/vendor-fields.ts';
import { eachBounded } from '../domain/concurrency.ts';
import { asMirrorError, MirrorError, withFullStop } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { acceptAccount, type VendorRow } from '../domain/reading.ts';
import { readRetryLimits } from '../domain/retry.ts';
import { endingOf, nextOutcome, type SweepProgress } from '../domain/run.ts';
import type { Difference, Verdict } from '../store/acceptance.ts';
import type { Run } from '../store/runs.ts';
import { balanceFields } from '../domain/vendor.ts';
import { lacksLists, ShownStates, sortUnseen } from './absences.ts';
import { refuseShortfall } from './breaker.ts';
import { sample, turnOf } from './details.ts';
import { hiddenWalks, RunCounter } from './observation.ts';
import { recordsRejected } from './resolve.ts';
import { interruptedError, type PullOptions } from './run.ts';
import { fewestStored } from './same-account.ts';
import { lastingRemedy } from './sweep/passes.ts';
import { sweep, type SweepPlan } from './sweep/sweep.ts';
import { isOfOneVendor, type SyncAccount } from './sync-account.ts';

export interface VendorDifference {
  readonly vendorid: number;
  /**
   * `unreadable`: the service shows a value that the mirror could not read, or the vendor itself, which no list shows, could not be read
   * (`presence`), so nobody can say whether they are equal.
   */
  readonly kind: 'only_in_source' | 'only_in_mirror' | 'different' | 'unreadable';
  readonly fields: readonly string[];
}

/** A vendor that differs and will be equal by itself: by the next sweep in its balances alone, or by a reading that is due. */
export interface VendorInFlight {
  readonly vendorid: number;
  readonly kind: 'balance_only' | 'in_flight';
  readonly fields: readonly string[];
}

/** What nobody compared: fields that lists leave out, of vendors that were not read by id; fields that the service no longer sends, of all. */
export interface NotCompared {
  readonly fields: readonly string[];
  readonly vendors: number;
}

export interface VerifyReport {
  /** `partial`: what was compared is equal, and that is not all. */
  readonly outcome: 'equal' | 'partial' | 'different' | 'incomplete';
  readonly sourceTotal: number;
  readonly mirrorTotal: number;
  readonly differences: readonly VendorDifference[];
  /** How many of them another program altered in the mirror: the next run makes them again what their records say. */
  readonly altered: number;
  readonly inFlight: readonly VendorInFlight[];
  readonly notCompared: NotCompared | undefined;
  readonly unsent: readonly string[];
  /** Whether the list, or a page of it, shows none of several vendors that the mirror holds: a run would refuse it. */
  readonly isOfStrangers: boolean;
  readonly error: MirrorError | undefined;
}

/** After so many that are not answered, none of them by a record, no more are tried. */
const maxRefusals = 3;

export interface VerifyOptions extends Pick<PullOptions, 'signal' | 'trigger'> {
  /** Reads all vendors by id. */
  readonly isFull?: boolean;
  readonly onProgress?: ((progress: SweepProgress) => void) | undefined;
}

/** Compares an account. Expected errors are in the report. */
export async function verify(account: SyncAccount, options: VerifyOptions): Promise<VerifyReport> {
  const { mirror, accountId } = account;
  await mirror.derivation.renew(vendorOf);
  const run = await mirror.runs.beginRun({ accountId, kind: 'verify', trigger: options.trigger });
  const counter = new RunCounter();
  let report: VerifyReport;
  try {
    report = await compare(account, run, options, counter);
  } catch (caught) {
    const error = options.signal.aborted ? interruptedError(counter) : asMirrorError(caught);
    report = {
      outcome: 'incomplete',
      sourceTotal: counter.counts.seen,
      mirrorTotal: 0,
      differences: [],
      altered: 0,
      inFlight: [],
      notCompared: undefined,
      unsent: [],
      isOfStrangers: false,
      error,
    };
  }
  const { error } = report;
  const unequal = whatIsNotEqual(report);
  await mirror.runs.finishRun(run, {
    outcome: nextOutcome('running', endingOf('verify', error)),
    counts: counter.counts,
    proof: null,
    moved: null,
    error: error?.message ?? unequal?.message ?? null,
    // What cannot be read is known apart from this run.
    errorCode: error?.code ?? (report.differences.some(({ kind }) => kind !== 'unreadable') ? 'differences' : null),
    remedy: error?.remedy ?? unequal?.remedy,
    safeAsOf: null,
    listedAsOf: null,
  });
  return report;
}

async function compare(
  account: SyncAccount,
  run: Run,
  options: VerifyOptions,
  counter: RunCounter,
): Promise<VerifyReport> {
  const { mirror, accountId, vendors, sync } = account;
  const found = new Map<number, VendorDifference>();
  const moving = new Moving();
  const note = (vendorid: number, verdict: Verdict | undefined, isListed: boolean): void => {
    if (verdict?.kind === 'created') found.set(vendorid, { vendorid, kind: 'only_in_source', fields: [] });
    else if (verdict?.kind === 'updated') {
      moving.saw(vendorid, verdict, !isListed && !found.has(vendorid));
      found.set(vendorid, { vendorid, kind: 'different', fields: verdict.changed });
    } else found.delete(vendorid);
  };
  const strangers = new Strangers();
  const check = async (rows: readonly VendorRow[], isListed = false): Promise<ReadonlyMap<number, Verdict>> => {
    const verdicts = await mirror.readings.compareRows(rows, accountId, isListed ? 'list' : 'ids');
    const changed = [...verdicts.values()].filter(({ kind }) => kind === 'updated').length;
    strangers.saw({
      isKnown: await mirror.readings.showsStored(rows, accountId),
      areOthers: isListed && changed >= fewestStored && (await mirror.readings.showsOthers(rows, accountId)),
    });
    for (const [vendorid, verdict] of verdicts) note(vendorid, verdict, isListed);
    return verdicts;
  };
  const plan: SweepPlan = {
    vendors,
    apply: async (page) => {
      const verdicts = await check(page.rows, true);
      counter.set({ pages: counter.counts.pages + 1 });
      return verdicts;
    },
    onRequest: () => counter.addRequest(),
    clock: account.clock,
    lag: sync.lag,
    sweepPasses: sync.sweepPasses,
    concurrency: account.concurrency,
    signal: options.signal,
    onProgress: options.onProgress,
    pages: mirror.serviceKnowledge,
  };
  const { accepted, miscounted } = await mirror.accountRegister.listCount(accountId);
  const { conclusion, seen, rejected } = await sweep({ ...plan, miscounted });
  counter.set({ seen: seen.size });
  if (rejected.length > 0) throw recordsRejected(rejected);
  if (!conclusion.complete)
    throw new MirrorError(
      'sweep_incomplete',
      withFullStop(`The list could not be read completely: ${conclusion.why}`),
      {
        remedy: conclusion.isLasting ? lastingRemedy : undefined,
      },
    );

  const listed = seen.size;
  const hidden = account.extraWalks === 'auto' ? await hiddenWalks(account, plan) : undefined;
  if (hidden) seen.addAll(hidden.seen);
  counter.set({ seen: seen.size });
  const unseen = await sortUnseen(mirror.vendors.scannedVendors(accountId), {
    seen,
    listed: seen,
    guarded: new Set(),
    shows: new ShownStates(
      await mirror.listings.shownStates(accountId),
      hidden?.states,
      lacksLists(await mirror.listings.filtersShow(accountId, false), hidden),
    ),
    dayBegan: '',
    since: 0,
    began: run.began,
    lag: sync.lag,
  });
  const elsewhere = seen.size - listed + unseen.hidden.length;
  refuseShortfall(conclusion, { elsewhere, accepted }, sync.breaker);
  for (const vendorid of unseen.suspects)
    found.set(vendorid, { vendorid, kind: 'only_in_mirror', fields: ['presence'] });
  counter.set({ suspects: unseen.suspects.length });
  // Lists may lag: differences are checked by reading the vendor, where the service offers that.
  const read = new Set<number>();
  const unread = new Unread();
  // An empty list says nothing about the vendors that it does not show.
  const absent = conclusion.shown === 0 ? unseen.absent.map(({ vendorid }) => vendorid) : [];
  const asked = options.isFull ? absent : sample(absent, turnOf(run, absent.length), limits.verifiedById);
  await eachBounded([...found.keys(), ...asked], account.concurrency, async (vendorid) => {
    const row = await record(account, vendorid, { counter, options, unread });
    if (!row) return;
    await check([row]);
    read.add(vendorid);
  });
  const beyondLists = [...read].filter((vendorid) => !seen.has(vendorid)).length;
  await readSome(account, [...seen], { run, read, check, counter, options });
  if (read.size === 0) unread.refuse();
  // A run has asked before, in vain: nobody can say whether they are there.
  for (const vendorid of await mirror.undecided.vendorids(accountId))
    if (unread.has(vendorid) && found.get(vendorid)?.kind === 'only_in_mirror')
      found.set(vendorid, { vendorid, kind: 'unreadable', fields: ['presence'] });
  const { fields } = await mirror.details.learned(accountId);
  const others = [...seen].filter((vendorid) => !read.has(vendorid)).length;
  const unsent = (await mirror.findings.unsent(accountId)).map(({ field }) => field);
  const leftOut = others > 0 ? fields : [];
  const notCompared =
    leftOut.length + unsent.length > 0
      ? { fields: [...leftOut, ...unsent], vendors: unsent.length > 0 ? seen.size : others }
      : undefined;
  for (const [vendorid, fields] of await mirror.vendors.unreadable(accountId))
    if (!found.has(vendorid)) found.set(vendorid, { vendorid, kind: 'unreadable', fields });
  const different = [...found.values()].filter(({ kind }) => kind === 'different').map(({ vendorid }) => vendorid);
  const altered = await mirror.derivation.findAltered(accountId, different, vendorOf);
  for (const [vendorid, fields] of altered)
    if (!found.has(vendorid)) found.set(vendorid, { vendorid, kind: 'different', fields });
  const all = [...found.values()].sort((a, b) => a.vendorid - b.vendorid);
  const toBeRead = new Set(all.length > 0 ? await mirror.queue.untried(accountId) : []);
  const inFlightOf = (one: VendorDifference): VendorInFlight | undefined =>
    altered.has(one.vendorid) ? undefined : moving.inFlight(one, toBeRead);
  const inFlight = all.flatMap((one) => inFlightOf(one) ?? []);
  const differences = all.filter((one) => inFlightOf(one) === undefined);
  const shownById = unseen.suspects.filter((vendorid) => read.has(vendorid) && !found.has(vendorid)).length;
  if (conclusion.shown === 0 && shownById > 0 && differences.length === 0) {
    const vendors = shownById === 1 ? 'one vendor' : `${shownById} vendors`;
    throw new MirrorError('sweep_incomplete', `The service returned an empty list, but reads by id show ${vendors}.`);
  }
  return {
    outcome: differences.length > 0 ? 'different' : notCompared ? 'partial' : 'equal',
    sourceTotal: seen.size + beyondLists,
    // Deleted vendors that lists hide cannot be compared.
    mirrorTotal: unseen.present - unseen.hidden.length,
    differences,
    altered: altered.size,
    inFlight,
    notCompared,
    unsent,
    isOfStrangers: listed > 0 && strangers.areShown(unseen.present),
    error: undefined,
  };
}

const balances: ReadonlySet<string> = new Set(balanceFields);

/** Which vendors change while they are compared. */
class Moving {
  /** `updated_at` of those that differ, as it was shown last. */
  readonly #shown = new Map<number, string | null>();
  readonly #changed = new Set<number>();

  /** The service showed a vendor that differs; `wasEqual`: and in its list one that did not. */
  saw(vendorid: number, { after: { updated_at }, changed }: Difference, wasEqual: boolean): void {
    const before = this.#shown.get(vendorid);
    if (wasEqual ? changed.includes('updated_at') : before !== undefined && before !== updated_at)
      this.#changed.add(vendorid);
    this.#shown.set(vendorid, updated_at);
  }

  inFlight({ vendorid, kind, fields }: VendorDifference, toBeRead: ReadonlySet<number>): VendorInFlight | undefined {
    if (kind === 'different' && fields.every((field) => balances.has(field)))
      return { vendorid, kind: 'balance_only', fields };
    if (kind === 'unreadable' || !(this.#changed.has(vendorid) || toBeRead.has(vendorid))) return undefined;
    return { vendorid, kind: 'in_flight', fields };
  }
}

/** Whether the service shows other vendors than those of the mirror, as a run would judge it. */
class Strangers {
  #isOneKnown = false;
  #isPageUnknown = false;

  /**
   * @param shown `isKnown`: whether one of these vendors is shown as the mirror holds it; `areOthers`: whether it is a page of which no run
   * would apply anything
   */
  saw(shown: { readonly isKnown: boolean; readonly areOthers: boolean }): void {
    this.#isOneKnown ||= shown.isKnown;
    this.#isPageUnknown ||= shown.areOthers;
  }

  /** @param stored vendors that are present in the mirror */
  areShown(stored: number): boolean {
    return this.#isPageUnknown || (!this.#isOneKnown && stored >= fewestStored);
  }
}

interface ReadSome {
  readonly run: Run;
  /** Vendors that were read by id, and those that are read now. */
  readonly read: Set<number>;
  readonly check: (rows: readonly VendorRow[]) => Promise<unknown>;
  readonly counter: RunCounter;
  readonly options: VerifyOptions;
}

/** Compares listed vendors with reads by id, others in each run. One that is refused is not compared; so are all where none is answered. */
async function readSome(
  { vendors, reader, concurrency }: SyncAccount,
  listed: readonly number[],
  { run, read, check, counter, options: { signal, isFull } }: ReadSome,
): Promise<void> {
  if (!reader.mayRead) return;
  let refusals = 0;
  const wanted = isFull ? listed : sample(listed, turnOf(run, listed.length), limits.verifiedById);
  await eachBounded(wanted, concurrency, async (vendorid) => {
    if (read.has(vendorid) || (read.size === 0 && refusals >= maxRefusals)) return;
    counter.addRequest();
    try {
      const { row } = await vendors.read(vendorid, { signal, priority: 'background', retryLimits: readRetryLimits });
      await check([row]);
      read.add(vendorid);
    } catch (error) {
      if (signal.aborted || !(error instanceof MirrorError)) throw error;
      refusals += 1;
    }
  });
}

/** Vendors that differ, and whose read by id was refused: by the record of one, or because the service answers none. */
class Unread {
  readonly #errors = new Map<number, MirrorError>();
  #isAnswered = false;

  answered(): void {
    this.#isAnswered = true;
  }

  /** @throws MirrorError the refusal, where it is one of many and none was answered. */
  add(vendorid: number, error: MirrorError): void {
    this.#errors.set(vendorid, error);
    if (this.#errors.size >= maxRefusals) this.refuse();
  }

  /** No other vendor was read either. @throws MirrorError as `add`, unless it says that none is ever answered. */
  refuse(): void {
    const error = [...this.#errors.values()].find(({ code }) => !['not_supported', 'access_denied'].includes(code));
    if (error && !this.#isAnswered) throw error;
  }

  has(vendorid: number): boolean {
    return this.#errors.has(vendorid);
  }
}

/** Reads a vendor that differs. @returns undefined where it is not found, or its read is refused. */
async function record(
  { vendors }: SyncAccount,
  vendorid: number,
  { counter, options: { signal }, unread }: Pick<ReadSome, 'counter' | 'options'> & { readonly unread: Unread },
): Promise<VendorRow | undefined> {
  counter.addRequest();
  try {
    const { row } = await vendors.read(vendorid, { signal, retryLimits: readRetryLimits });
    unread.answered();
    return row;
  } catch (error) {
    if (signal.aborted || !(error instanceof MirrorError)) throw error;
    if (error.code === 'not_found') unread.answered();
    else if (isOfOneVendor(error)) unread.add(vendorid, error);
    else throw error;
    return undefined;
  }
}

/** A run reads the same values again. */
const reportUnreadable =
  'Report them to the service: it sends values that cannot be read. `vendors.unreadable_fields` names the fields.';

/** What the remedy of vendors is that nobody can say are there: those that `vendors_undecided` of `status` names. */
function reportUndecided(count: number): string {
  return count === 1
    ? 'Open the vendor in the service, and report it there: `vendor-mirror status` says why it cannot be read.'
    : 'Open these vendors in the service, and report them there: `vendor-mirror status` says why they cannot be read.';
}

function remedyOf(differences: readonly VendorDifference[]): string | undefined {
  if (!differences.every(({ kind }) => kind === 'unreadable')) return undefined;
  const undecided = differences.filter(({ fields }) => fields.includes('presence')).length;
  const remedies = [
    undecided < differences.length ? reportUnreadable : undefined,
    undecided > 0 ? reportUndecided(undecided) : undefined,
  ];
  return remedies.filter(Boolean).join(' ');
}

function alteredWords(altered: number): string {
  if (altered === 0) return '';
  const which = altered === 1 ? 'One vendor does' : `${altered} vendors do`;
  return ` ${which} not stand in the mirror as the service sent it: another program wrote into it.`;
}

/** What a person is told of a comparison that ended, and found not all to be equal. */
export function whatIsNotEqual({
  differences,
  altered,
  notCompared,
  unsent,
  isOfStrangers,
}: VerifyReport): MirrorError | undefined {
  const { length } = differences;
  if (length > 0 && isOfStrangers)
    return new MirrorError('differences', 'The service shows other vendors than the mirror holds.', {
      remedy: acceptAccount,
    });
  if (length > 0)
    return new MirrorError(
      'differences',
      `${length === 1 ? 'One vendor differs.' : `${length} vendors differ.`}${alteredWords(altered)}`,
      { remedy: remedyOf(differences) },
    );
  if (!notCompared) return undefined;
  const { fields, vendors } = notCompared;
  const whose = vendors === 1 ? 'one vendor' : `${vendors} vendors`;
  const isAllUnsent = unsent.length === fields.length;
  return new MirrorError('not_compared', `Not compared: ${fields.join(', ')} of ${whose}. All else is equal.`, {
    remedy: isAllUnsent
      ? 'The service no longer sends this: `vendor-mirror status` says since when, and what to do.'
      : undefined,
  });
}
