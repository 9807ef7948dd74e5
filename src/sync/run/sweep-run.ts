/** What a run does: sweep the list, prove it, ask after those it did not show, and claim no more than that. */
import { parseInstant, sleep } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import type { Finding } from '../../store/rows/findings.ts';
import type { Run } from '../../store/rows/runs.ts';
import type { ProofKind, RunTrigger } from '../../store/sqlite/tables.ts';
import { resolveById, resolveBySweep, sample, type AbsenceOptions, type Resolved } from '../absence/absences.ts';
import { blank, isBlank, trips } from '../absence/breaker.ts';
import { sortUnseen, type Unseen } from '../absence/unseen.ts';
import { answerMarks, readMarked } from '../queue/answer-marks.ts';
import { dismissParked, wakeParked } from '../queue/parked-marks.ts';
import type { Engine } from '../account/engine.ts';
import { inFlightFor } from '../observe/accountant.ts';
import { observe, observeHidden, type Observation, type ObservationOptions } from '../observe/observation.ts';
import { sweepContext } from '../observe/change-context.ts';
import { leaveRoom } from './disk-room.ts';
import { answerRequest, openRequest, restRequest, type OpenRequest } from './sweep-request.ts';
import { IdSet } from '../sweep/id-set.ts';
import type { Complete } from '../sweep/passes.ts';
import type { SweepProgress } from '../sweep/sweep.ts';
import { RunCounter } from '../observe/run-counter.ts';

export interface PullOptions {
  readonly kind: 'pull' | 'reconcile';
  readonly trigger: RunTrigger;
  readonly signal: AbortSignal;
  /** How many absences a person has allowed. */
  readonly approved?: number;
  readonly onProgress?: (progress: SweepProgress) => void;
}

/** What is known to be in the mirror after a complete run, as moments: Unix ms. */
export interface Claims {
  /** Everything that had happened by then, and everything of what lists show. */
  readonly safeAsOf: number;
  readonly listedAsOf: number;
}

/** Carries out a run: sweeps the list, proves it, and asks after those it did not show. */
export class SweepRun {
  readonly counter = new RunCounter();
  readonly notes: string[] = [];
  /** How the list was proven complete, and whether it was seen to move; null before that is known. */
  proof: ProofKind | null = null;
  moved: boolean | null = null;
  readonly #engine: Engine;
  readonly #options: PullOptions;
  readonly #run: Run;

  constructor(engine: Engine, options: PullOptions, run: Run) {
    this.#engine = engine;
    this.#options = options;
    this.#run = run;
  }

  async run(): Promise<Claims> {
    const asked = await openRequest(this.#engine);
    try {
      return await this.#sweep(asked);
    } catch (error) {
      if (asked && !this.#options.signal.aborted) await restRequest(this.#engine, asked);
      throw error;
    }
  }

  async #sweep(request: OpenRequest | undefined): Promise<Claims> {
    const { counter } = this;
    const engine = this.#engine;
    const { kind, trigger, signal, approved = 0, onProgress } = this.#options;
    const { mirror, accountId, sync, clock } = engine;
    if (trigger !== 'command') leaveRoom(mirror);
    const context = await sweepContext(engine, { id: this.#run.id, kind, trigger });
    const parked = kind === 'reconcile' ? await wakeParked(engine) : [];
    const began = await mirror.takeStamp();
    const marks = await mirror.dueMarks(accountId);
    // Who was told of and not marked is read from the journal afterwards.
    const asked = request ? { has: () => true } : new Set(marks.map(({ vendorid }) => vendorid));
    const sweeping: ObservationOptions = { context, counter, signal, asked, onProgress };
    const observation = await this.#observeWhole(sweeping);
    const hidden = engine.extraWalks === 'auto' ? await observeHidden(engine, sweeping) : undefined;
    const seen = new IdSet(observation.seen);
    if (hidden) seen.addAll(hidden.seen);
    this.#settleCounts(seen);
    await mirror.reportFields(this.#run, observation.fields.names, observation.fields.whole);
    await mirror.promoteFindings(accountId, clock.now() - inFlightFor);
    await this.#reportCounts(observation.conclusion);

    const unseen = await sortUnseen(mirror.scannedVendors(accountId), {
      seen,
      guarded: observation.guarded,
      showsDeleted: observation.showsDeleted || hidden?.showsDeleted === true,
      beganSeq: this.#run.beganSeq,
      began: began.begun,
      lag: sync.lag,
    });
    const suspects = unseen.suspects.length;
    const { shown } = observation.conclusion;
    counter.set({ suspects });
    const tripped = await this.#breaker(unseen, suspects);
    if (tripped) throw tripped;
    // An empty list is no proof of anything: it needs a person's word even for a single vendor, and even to be the first of two.
    const isBelieved = shown > 0 || approved >= suspects;
    if (isBelieved) await mirror.markSuspects(accountId, unseen.suspects);

    const attendance = { context, signal, priority: 'patient', onRequest: () => counter.addRequest() } as const;
    const unlisted = suspects + unseen.hidden.length + unseen.absent.length + parked.length;
    const isNeeded = unlisted > 0 || (await mirror.countMarks(accountId)) > 0;
    const listed = isNeeded ? [...sample(seen), ...unseen.recent] : [];
    const readsById = isNeeded && (await engine.reader.isOffered(listed, attendance));
    const absence: AbsenceOptions = {
      run: this.#run,
      attendance,
      counter,
      unseen,
      observation,
      listed,
      began,
      isBelieved,
      breaker: (absences) => this.#breaker(unseen, absences),
    };
    let resolved: Resolved = { doubted: 0, unreadSeq: unseen.hidden[0]?.read_seq, notes: [] };
    const sweepAgain = (asked: ReadonlySet<number>): Promise<Observation> => observe(engine, { ...sweeping, asked });
    if (readsById) {
      resolved = await resolveById(engine, absence, sweepAgain);
      this.notes.push(...(await readMarked(engine, attendance, (verdict) => counter.addVerdict(verdict))));
    } else if (isNeeded) {
      await answerMarks(engine, marks, { seen, news: observation.news });
      resolved = await resolveBySweep(engine, absence, sweepAgain);
    }
    this.notes.push(...resolved.notes);
    if (resolved.doubted > 0 && !isBelieved) throw await this.#trip(unseen, suspects);
    await dismissParked(engine, parked, seen, readsById, {
      ...attendance,
      onVerdict: (verdict) => counter.addVerdict(verdict),
    });
    await this.#refuseEmptiness(observation.conclusion, unseen.present);
    if (request) await answerRequest(engine, request, { seen, news: observation.news });
    return this.#claims(unseen, resolved);
  }

  /** Sweeps the list until it is proven whole. @throws MirrorError `sweep_incomplete`, `record_rejected`. */
  async #observeWhole(options: ObservationOptions): Promise<Observation & { readonly conclusion: Complete }> {
    const { mirror, accountId, clock, sync } = this.#engine;
    let observation = await observe(this.#engine, options);
    const isEmpty = observation.conclusion.complete && observation.conclusion.shown === 0;
    // The first list of all may be empty by a fault, and there is nothing to contradict it.
    if (isEmpty && (await mirror.countVendors(accountId)) === 0 && !(await mirror.lastComplete(accountId))) {
      await sleep(clock, sync.lag, options.signal);
      observation = await observe(this.#engine, options);
    }
    const { conclusion, moved } = observation;
    this.moved = moved;
    const rejected = [...observation.rejected, ...observation.unusable.values()];
    if (rejected.length > 0) throw await this.#rejected(rejected);
    if (!conclusion.complete)
      throw new MirrorError('sweep_incomplete', `The sweep could not be proven complete: ${conclusion.why}.`);
    this.proof = conclusion.proof;
    return { ...observation, conclusion };
  }

  async #rejected(reasons: readonly string[]): Promise<MirrorError> {
    const findings = reasons.map((reason): Finding => ({
      kind: 'record_rejected',
      vendorid: null,
      fields: { reason },
    }));
    await this.#engine.mirror.addFindings(this.#run, findings);
    const records = reasons.length === 1 ? 'One record' : `${reasons.length} records`;
    return new MirrorError('record_rejected', `${records} of the list cannot be used: ${String(reasons[0])}`);
  }

  /** A vendor that several walks showed counts once. */
  #settleCounts(seen: IdSet): void {
    const { created, updated } = this.counter.counts;
    this.counter.set({ seen: seen.size, unchanged: Math.max(0, seen.size - created - updated) });
  }

  /** Where the service counts more vendors than it shows, or fewer, that is a finding. */
  async #reportCounts({ unreadable, shown }: Complete): Promise<void> {
    if (unreadable === 0) return;
    const finding: Finding =
      unreadable > 0
        ? { kind: 'unreadable', vendorid: null, fields: { rows: unreadable } }
        : { kind: 'count_mismatch', vendorid: null, fields: { shown, counted: shown + unreadable } };
    await this.#engine.mirror.addFindings(this.#run, [finding]);
    this.notes.push(
      unreadable > 0
        ? `The service counts ${unreadable} more vendors than it shows.`
        : `The service shows ${-unreadable} more vendors than it counts.`,
    );
  }

  /** @returns the error of so many absences, where they may not be applied. */
  async #breaker(unseen: Unseen, absences: number): Promise<MirrorError | undefined> {
    const { approved = 0 } = this.#options;
    const { present } = unseen;
    const isTripped = trips({ suspects: absences, present, approved }, this.#engine.sync.breaker);
    return isTripped ? this.#trip(unseen, absences) : undefined;
  }

  #trip({ present }: Unseen, absences: number): Promise<MirrorError> {
    return this.#waitForPerson({ suspects: absences, present }, `${absences} of ${present} vendors were not listed.`);
  }

  /** What waits for a person's word becomes a finding. */
  async #waitForPerson(fields: Finding['fields'], what: string): Promise<MirrorError> {
    await this.#engine.mirror.addFindings(this.#run, [{ kind: 'breaker', vendorid: null, fields }]);
    return new MirrorError(
      'breaker_tripped',
      `${what} So many absences are not believed without a person's word; everything else was applied.`,
    );
  }

  /** @throws MirrorError where an empty list contradicts what is stored, or may be all that the service ever answers. */
  async #refuseEmptiness(conclusion: Complete, present: number): Promise<void> {
    const { mirror, accountId } = this.#engine;
    const { approved = 0 } = this.#options;
    if (conclusion.shown === 0 && (await mirror.someActive(accountId)).length > 0)
      throw new MirrorError(
        'sweep_incomplete',
        'The service returned an empty list, but the mirror holds active vendors.',
      );
    if (isBlank(conclusion, Math.max(present, approved)))
      throw await this.#waitForPerson(
        { suspects: conclusion.unreadable, present },
        `The service ${blank(conclusion)}.`,
      );
  }

  /** What a complete run may claim: what was too young to be contradicted, and what lists hide and nobody read, sets limits. */
  async #claims({ guardedSeq }: Unseen, { unreadSeq }: Resolved): Promise<Claims> {
    const { mirror, accountId, sync } = this.#engine;
    const { startedAt } = this.#run;
    const before = async (readSeq: number | undefined): Promise<number> =>
      readSeq === undefined ? startedAt : (parseInstant(await mirror.runBefore(accountId, readSeq, startedAt)) ?? 0);
    const listedAsOf = Math.min(startedAt, await before(guardedSeq)) - sync.lag;
    return { listedAsOf, safeAsOf: Math.min(listedAsOf, (await before(unreadSeq)) - sync.lag) };
  }
}
