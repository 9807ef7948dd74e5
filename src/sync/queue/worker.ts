/**
 * The worker drains the queue of one account: marks that are due are attended to, several at a time; where the service reads
 * no vendor by number, one sweep answers all of them. It wakes when a delivery came, and when a mark falls due.
 */
import { sleep } from '../../domain/clock.ts';
import type { Service } from '../../domain/lifecycle.ts';
import { eachBounded } from '../../domain/lifecycle.ts';
import { asMirrorError, type MirrorError } from '../../domain/errors.ts';
import type { Mark } from '../../store/rows/marks.ts';
import type { Verdict } from '../../store/decide/verdict.ts';
import { attend, type Attendance } from './attempt.ts';
import { queueRest } from './retry-policy.ts';
import type { Engine } from '../account/engine.ts';
import { sweepContext } from '../observe/change-context.ts';

/** The longest nap, in milliseconds: clocks may jump, and another process may mark vendors too. */
const longestNap = 30_000;

/** Marks taken at once. */
const batch = 200;

export class Worker implements Service {
  readonly name: string;
  readonly #engine: Engine;
  readonly #sweep: () => Promise<{ readonly error: MirrorError | undefined }>;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;
  #awake = false;
  #wake: (() => void) | undefined;

  /** `sweep` runs a sweep that begins after the call. */
  constructor(engine: Engine, sweep: () => Promise<{ readonly error: MirrorError | undefined }>) {
    this.name = `worker of ${engine.accountId}`;
    this.#engine = engine;
    this.#sweep = sweep;
  }

  start(): Promise<void> {
    this.#running ??= this.#run();
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('Stopping.'));
    this.nudge();
    await this.#running;
  }

  /** There may be something to do. */
  nudge(): void {
    this.#awake = true;
    this.#wake?.();
  }

  #stopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (!this.#stopped()) {
      this.#awake = false;
      try {
        if (!(await this.#drain())) await this.#nap();
        failures = 0;
      } catch (error) {
        if (this.#stopped()) return;
        this.#engine.log.warn({ err: asMirrorError(error) }, 'the queue could not be drained');
        // What is due stays due: without a rest, which nothing that comes cuts short, the same would fail again at once, and again.
        failures += 1;
        await sleep(this.#engine.clock, queueRest(failures), this.#stopping.signal).catch(() => undefined);
      }
    }
  }

  /** @returns whether anything was due. @throws whatever keeps the marks from being answered. */
  async #drain(): Promise<boolean> {
    const { mirror, accountId, concurrency } = this.#engine;
    const marks = await mirror.dueMarks(accountId, batch);
    if (marks.length === 0) return false;
    const attendance = {
      context: this.#context(),
      signal: this.#stopping.signal,
    };
    const offered = await this.#engine.reader.isOffered(await mirror.someActive(accountId), attendance);
    if (offered) await eachBounded(marks, concurrency, (mark) => this.#attend(mark));
    else {
      const { error } = await this.#sweep();
      if (error) throw error;
    }
    return true;
  }

  async #attend(mark: Mark): Promise<void> {
    await attend(this.#engine, mark, {
      context: await this.#contextOf(mark),
      signal: this.#stopping.signal,
      onVerdict: (verdict) => this.#tell(mark, verdict),
    });
  }

  /** Numbers and names of fields only: what stands in a vendor is nobody's business in a log. */
  #tell({ account_id, vendorid }: Mark, verdict: Verdict): void {
    const { log } = this.#engine;
    if (verdict.kind === 'created') log.info({ account: account_id, vendorid }, `vendor ${vendorid} is new`);
    if (verdict.kind === 'updated')
      log.info({ account: account_id, vendorid }, `vendor ${vendorid} changed: ${verdict.changed.join(', ')}`);
  }

  /** What a sweep met, and could not believe yet, is the sweep's to account for; everything else goes back to the delivery. */
  async #contextOf(mark: Mark): Promise<Attendance['context']> {
    const { mirror, accountId } = this.#engine;
    const delivery = (await mirror.openDeliveries(mark)).at(-1);
    const sweeping = delivery || mark.reason !== 'guarded' ? undefined : await mirror.lastSweep(accountId);
    return sweeping ? sweepContext(this.#engine, sweeping) : { ...this.#context(), deliveryId: delivery?.id ?? null };
  }

  #context(): Attendance['context'] {
    const { accountId, sync } = this.#engine;
    return { accountId, source: 'delivery', runId: null, deliveryId: null, lag: sync.lag };
  }

  async #nap(): Promise<void> {
    const { mirror, accountId, clock } = this.#engine;
    const next = await mirror.untilNextMark(accountId);
    if (this.#awake || this.#stopped()) return;
    await new Promise<void>((resolve) => {
      const cancel = clock.timer(Math.min(longestNap, next ?? longestNap), resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
    this.#wake = undefined;
  }
}
