/** A run: sweep the list, prove it, ask after those it did not show, and say honestly how it ended. */
import { parseInstant } from '../clock.ts';
import { asMirrorError, MirrorError } from '../errors.ts';
import type { VendorPage } from '../reading.ts';
import type { ParkedDeliveries } from '../store/deliveries.ts';
import type { Finding } from '../store/findings.ts';
import { roomForDeliveries } from '../store/file-systems.ts';
import type { Mirror } from '../store/mirror.ts';
import type { Run, RunCounts } from '../store/runs.ts';
import type { RunOutcome, RunTrigger } from '../store/tables.ts';
import { blank, isBlank, trips } from './breaker.ts';
import type { Engine } from './engine.ts';
import { inFlightFor, isNews } from './ledger.ts';
import { FieldWatch } from './field-watch.ts';
import { IdSet } from './id-set.ts';
import { sweepContext } from './sweep-context.ts';
import { extraWalks, sweep, type Sweep, type SweepProgress } from './sweep.ts';
import { dismissParked, everyMark, resolveByNumber, resolveBySweep } from './suspects.ts';
import { Tally } from './tally.ts';
import { inTurns } from './turns.ts';
import { sortUnseen } from './unseen.ts';

export interface PullOptions {
  readonly kind: 'pull' | 'reconcile';
  readonly trigger: RunTrigger;
  readonly signal: AbortSignal;
  /** How many absences a person has allowed. */
  readonly approved?: number;
  readonly onProgress?: (progress: SweepProgress) => void;
}

/** How a run ended. */
export interface RunReport {
  readonly run: Run;
  readonly trigger: RunTrigger;
  readonly seconds: number;
  readonly outcome: Exclude<RunOutcome, 'running' | 'abandoned'>;
  readonly counts: RunCounts;
  readonly error: MirrorError | undefined;
  /** What else a person should know, in sentences. */
  readonly notes: readonly string[];
}

/** Runs one pull or reconciliation of an account. Expected failures end the run and stand in the report. */
export async function pull(engine: Engine, options: PullOptions): Promise<RunReport> {
  const { mirror, accountId } = engine;
  const { kind, trigger } = options;
  const started = engine.clock.monotonic();
  const run = await mirror.beginRun({ accountId, kind, trigger });
  const tally = new Tally();
  const notes: string[] = [];
  let error: MirrorError | undefined;
  let known = run.startedAt;
  try {
    known = await work(engine, options, { run, tally, notes });
  } catch (caught) {
    error = options.signal.aborted ? interrupted(tally) : asMirrorError(caught);
    if (error.code === 'bug') engine.log.error({ err: caught }, 'a run met a fault of ours');
  }
  const outcome = !error ? 'complete' : error.exit === 1 ? 'incomplete' : 'failed';
  const counts = tally.counts;
  await mirror.finishRun(run, {
    outcome,
    counts,
    error: error?.message ?? null,
    safeAsOf: outcome === 'complete' ? known - engine.sync.lag : null,
  });
  const seconds = Math.round(engine.clock.monotonic() - started) / 1_000;
  return { run, trigger, seconds, outcome, counts, error, notes };
}

/** What is said of a run that was stopped from outside. */
export function interrupted({ counts }: Tally): MirrorError {
  const pages = counts.pages === 1 ? 'one page' : `${counts.pages} pages`;
  return new MirrorError('interrupted', `Interrupted after ${pages}; what was read is kept.`);
}

interface Work {
  readonly run: Run;
  readonly tally: Tally;
  readonly notes: string[];
}

/** Nobody waits for a run that nobody asked for; a delivery that finds no room is refused. @throws MirrorError `disk_full`. */
function leaveRoom(mirror: Mirror): void {
  const free = mirror.freeBytes();
  if (free >= roomForDeliveries) return;
  const megabytes = (free / 1024 ** 2).toFixed(1);
  throw new MirrorError(
    'disk_full',
    `Only ${megabytes} MB are free beside ${mirror.path}: they are left for deliveries, and sweeps wait.`,
  );
}

/** @returns the moment of which the list told, milliseconds since 1970. */
async function work(engine: Engine, options: PullOptions, { run, tally, notes }: Work): Promise<number> {
  const { mirror, accountId, sync } = engine;
  if (options.trigger !== 'command') leaveRoom(mirror);
  const fields = new FieldWatch();
  const news = new Set<number>();
  const guarded = new Set<number>();
  const context = await sweepContext(engine, { id: run.id, kind: options.kind, trigger: options.trigger });
  const plan: Sweep = {
    vendors: engine.vendors,
    apply: inTurns(engine.clock, async (pages: readonly VendorPage[]) => {
      const watched = pages.map((page) => ({ ...page, rows: fields.through(page.rows) }));
      const applied = await mirror.applyPages(watched, context, (verdicts) => tally.withPages(verdicts));
      tally.set(tally.withPages(applied));
      for (const [vendorid, verdict] of applied.flatMap((verdicts) => [...verdicts])) {
        const isGuarded = verdict.kind === 'guarded';
        if (isGuarded) guarded.add(vendorid);
        // What came too late to be believed, and what no event tells of, answers no delivery.
        if (marked.has(vendorid) && (isGuarded || isNews(verdict))) news.add(vendorid);
      }
      return applied;
    }),
    onRequest: () => tally.addRequest(),
    passes: sync.sweepPasses,
    concurrency: engine.concurrency,
    signal: options.signal,
    onProgress: options.onProgress,
  };
  const parked = options.kind === 'reconcile' ? await wakeParked(engine) : [];
  const stamp = await mirror.takeStamp();
  const marks = await mirror.dueMarks(accountId, everyMark);
  const marked = new Set(marks.map(({ vendorid }) => vendorid));
  const main = await sweep(plan);
  if (!main.conclusion.complete)
    throw new MirrorError('sweep_incomplete', `The sweep could not be proven complete: ${main.conclusion.why}.`);

  const seen = new IdSet(main.seen);
  if (engine.extraWalks === 'auto') seen.addAll(await extraWalks(plan));
  settleCounts(tally, seen);
  await mirror.reportFields(run, fields.names, fields.whole);

  await mirror.promoteFindings(accountId, engine.clock.now() - inFlightFor);

  const { unreadable, shown } = main.conclusion;
  if (unreadable > 0) {
    await mirror.addFindings(run, [{ kind: 'unreadable', vendorid: null, fields: { rows: unreadable } }]);
    notes.push(`The service counts ${unreadable} more vendors than it shows.`);
  }

  const unseen = await sortUnseen(mirror.residents(accountId), {
    seen,
    guarded,
    beganSeq: run.beganSeq,
    began: stamp.begun,
    lag: sync.lag,
  });
  const { present } = unseen;
  const suspects = unseen.suspects.length;
  const approved = options.approved ?? 0;
  const notListed = `${suspects} of ${present} vendors were not listed.`;
  tally.set({ suspects });
  if (trips({ suspects, present, approved }, sync.breaker))
    throw await tripped(engine, run, { suspects, present }, notListed);

  // An empty list is no proof of anything (rule 9): it needs a person's word even for a single vendor, and even to be the first of two.
  const believed = shown > 0 || approved >= suspects;
  if (believed) await mirror.markSuspects(accountId, unseen.suspects);
  const attendance = { context, signal: options.signal, onRequest: () => tally.addRequest() };
  const resolution = {
    engine,
    plan,
    attendance,
    tally,
    run,
    seen,
    unseen,
    shown,
    stamp,
    marks,
    marked,
    parked,
    news,
    notes,
  };
  const unanswered = suspects + unseen.hidden.length + parked.length;
  const needed = unanswered > 0 || (await mirror.countMarks(accountId)) > 0;
  const offered = needed && (await engine.reader.isOffered(sample(seen), attendance));
  const left = !needed
    ? 0
    : offered
      ? await resolveByNumber(resolution, believed)
      : await resolveBySweep(resolution, believed);
  if (left > 0 && !believed) throw await tripped(engine, run, { suspects, present }, notListed);
  await dismissParked(resolution, offered);
  if (shown === 0 && (await mirror.someActive(accountId)).length > 0)
    throw new MirrorError('sweep_incomplete', 'The list was empty, and yet there are vendors.');
  if (isBlank(main.conclusion, Math.max(present, approved)))
    throw await tripped(engine, run, { suspects: unreadable, present }, `The service ${blank(main.conclusion)}.`);
  if (unseen.guardedSeq === undefined) return run.startedAt;
  const before = await mirror.runBefore(accountId, unseen.guardedSeq, run.startedAt);
  return Math.min(run.startedAt, parseInstant(before) ?? 0);
}

/** What was given up is read again. @returns the deliveries that were given up before now. */
async function wakeParked({ mirror, accountId }: Engine): Promise<ParkedDeliveries[]> {
  const parked = await mirror.parkedMarks(accountId);
  await mirror.markVendors(
    accountId,
    parked.map(({ vendorid }) => vendorid),
    'reconcile',
    0,
  );
  return mirror.parkedDeliveries(accountId);
}

/** A vendor that several passes showed counts once. */
function settleCounts(tally: Tally, seen: IdSet): void {
  const { created, updated } = tally.counts;
  tally.set({ seen: seen.size, unchanged: Math.max(0, seen.size - created - updated) });
}

/** What waits for a person's word becomes a finding. @returns what is said of it. */
async function tripped({ mirror }: Engine, run: Run, fields: Finding['fields'], what: string): Promise<MirrorError> {
  await mirror.addFindings(run, [{ kind: 'breaker', vendorid: null, fields }]);
  return new MirrorError(
    'breaker_tripped',
    `${what} So many absences are not believed without a person's word; everything else was applied.`,
  );
}

/** Some numbers that a list has just shown, from its middle: the ends are where rows come and go. */
function sample(seen: IdSet): number[] {
  const ids = [...seen];
  return [0.5, 0.25, 0.75].map((part) => ids[Math.floor(ids.length * part)]).filter((id) => id !== undefined);
}
