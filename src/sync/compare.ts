/** Compares the service with the mirror, field by field; changes no vendor. */
import { vendorOf } from '../api/wire/vendor-fields.ts';
import { eachBounded } from '../domain/concurrency.ts';
import { asMirrorError, MirrorError } from '../domain/errors.ts';
import type { ReadStamp, VendorRow } from '../domain/reading.ts';
import { endingOf, nextOutcome } from '../domain/run.ts';
import type { Verdict } from '../store/acceptance.ts';
import { lacksLists, ShownStates, sortUnseen } from './absences.ts';
import { refuseShortfall } from './breaker.ts';
import { hiddenWalks, RunCounter } from './observation.ts';
import { interruptedError, type PullOptions } from './run.ts';
import { sweep, type SweepPlan, type SweepProgress } from './sweep/sweep.ts';
import type { SyncAccount } from './sync-account.ts';

export interface VendorDifference {
  readonly vendorid: number;
  /** `unreadable`: the service shows a value that the mirror could not read, so nobody can say whether they are equal. */
  readonly kind: 'only_in_source' | 'only_in_mirror' | 'different' | 'unreadable';
  readonly fields: readonly string[];
}

export interface VerifyReport {
  readonly outcome: 'equal' | 'different' | 'incomplete';
  readonly sourceTotal: number;
  readonly mirrorTotal: number;
  readonly differences: readonly VendorDifference[];
  readonly error: MirrorError | undefined;
}

export interface VerifyOptions extends Pick<PullOptions, 'signal' | 'trigger'> {
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
    report = await compare(account, run.began, options, counter);
  } catch (caught) {
    const error = options.signal.aborted ? interruptedError(counter) : asMirrorError(caught);
    report = { outcome: 'incomplete', sourceTotal: counter.counts.seen, mirrorTotal: 0, differences: [], error };
  }
  const { outcome, error } = report;
  await mirror.runs.finishRun(run, {
    outcome: nextOutcome('running', endingOf('verify', error)),
    counts: counter.counts,
    proof: null,
    moved: null,
    error: error?.message ?? (outcome === 'different' ? howManyDiffer(report.differences.length) : null),
    errorCode: error?.code ?? null,
    remedy: error?.remedy,
    safeAsOf: null,
    listedAsOf: null,
  });
  return report;
}

async function compare(
  account: SyncAccount,
  began: ReadStamp,
  options: VerifyOptions,
  counter: RunCounter,
): Promise<VerifyReport> {
  const { mirror, accountId, vendors, sync } = account;
  const found = new Map<number, VendorDifference>();
  const note = (vendorid: number, verdict: Verdict | undefined): void => {
    if (verdict?.kind === 'created') found.set(vendorid, { vendorid, kind: 'only_in_source', fields: [] });
    else if (verdict?.kind === 'updated') found.set(vendorid, { vendorid, kind: 'different', fields: verdict.changed });
    else found.delete(vendorid);
  };
  const check = async (rows: readonly VendorRow[]): Promise<ReadonlyMap<number, Verdict>> => {
    const verdicts = await mirror.readings.compareRows(rows, accountId);
    for (const [vendorid, verdict] of verdicts) note(vendorid, verdict);
    return verdicts;
  };
  const plan: SweepPlan = {
    vendors,
    apply: async (page) => {
      const verdicts = await check(page.rows);
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
  const { conclusion, seen } = await sweep({ ...plan, miscounted });
  if (!conclusion.complete)
    throw new MirrorError('sweep_incomplete', `The list could not be read completely: ${conclusion.why}.`);

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
    began,
    lag: sync.lag,
  });
  const elsewhere = seen.size - listed + unseen.hidden.length;
  refuseShortfall(conclusion, { elsewhere, accepted }, sync.breaker);
  for (const vendorid of unseen.suspects)
    found.set(vendorid, { vendorid, kind: 'only_in_mirror', fields: ['presence'] });
  counter.set({ suspects: unseen.suspects.length });
  // Lists may lag: differences are checked by reading the vendor, where the service offers that.
  await eachBounded([...found.keys()], account.concurrency, async (vendorid) => {
    const row = await record(account, vendorid, options.signal, counter);
    if (row) await check([row]);
  });
  for (const [vendorid, fields] of await mirror.vendors.unreadable(accountId))
    if (!found.has(vendorid)) found.set(vendorid, { vendorid, kind: 'unreadable', fields });
  const differences = [...found.values()].sort((a, b) => a.vendorid - b.vendorid);
  return {
    outcome: differences.length === 0 ? 'equal' : 'different',
    sourceTotal: seen.size,
    // Deleted vendors that lists hide cannot be compared.
    mirrorTotal: unseen.present - unseen.hidden.length,
    differences,
    error: undefined,
  };
}

async function record(
  { vendors }: SyncAccount,
  vendorid: number,
  signal: AbortSignal,
  counter: RunCounter,
): Promise<VendorRow | undefined> {
  counter.addRequest();
  try {
    return (await vendors.read(vendorid, { signal })).row;
  } catch (error) {
    if (error instanceof MirrorError && ['not_found', 'not_supported', 'access_denied'].includes(error.code))
      return undefined;
    throw error;
  }
}

function howManyDiffer(count: number): string {
  return count === 1 ? 'One vendor differs.' : `${count} vendors differ.`;
}
