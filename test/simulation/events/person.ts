/**
 * A person at a terminal, who writes to the service by the commands' own functions and repeats a command that failed. Whatever happens
 * to them is drawn from streams of their own: without writes, a seed's trace does not change.
 */
import type { NewVendor, VendorEdit } from '../../../src/api/requests.ts';
import { seededRandom, seedOf, type SeededRandom } from '../../../src/sandbox/core/random.ts';
import type { VendorService } from '../../../src/sandbox/vendors/vendor-service.ts';
import { createVendor } from '../../../src/sync/write/create.ts';
import type { WriteReport } from '../../../src/sync/write/answer.ts';
import { editVendor } from '../../../src/sync/write/edit.ts';
import type { Daemon } from '../machine/process.ts';
import type { Plan } from '../plan/plan.ts';
import type { Timeline } from '../machine/timeline.ts';
import type { Trace } from '../machine/trace.ts';
import { recordingAccount, type Intent } from './write-record.ts';

export interface PersonOptions {
  readonly plan: Plan;
  readonly account: string;
  readonly vendorService: VendorService;
  readonly timeline: Timeline;
  readonly trace: Trace;
  readonly daemon: () => Daemon | undefined;
}

const minute = 60_000;
/** Times that a command is given at most. */
const mostTries = 4;
/** How often the last try says `--again`. */
const againRate = 0.5;

/** One command under way. */
interface Attempt {
  readonly daemon: Daemon;
  readonly vendorid: number | undefined;
  readonly abort: AbortController;
  outcome: 'under way' | 'done' | 'failed';
}

export class Person {
  readonly intents: Intent[] = [];
  readonly #options: PersonOptions;
  readonly #random: SeededRandom;
  readonly #attempts = new Set<Attempt>();
  #isOver = false;

  constructor(options: PersonOptions) {
    this.#options = options;
    this.#random = seededRandom(seedOf(options.plan.seed, 'person', options.account));
  }

  /** Plans all commands of the safety phase. */
  plan(): void {
    const { plan, timeline } = this.#options;
    for (let nth = 0; nth < plan.writes * plan.minutes; nth += 1)
      timeline.timer(this.#random.below(plan.minutes * minute), () => this.#begin(nth));
  }

  /** The process is about to end: what is under way is interrupted. */
  interrupt(): void {
    for (const { abort } of this.#attempts) abort.abort(new Error('Interrupted.'));
  }

  /** No more commands. */
  end(): void {
    this.#isOver = true;
    this.interrupt();
  }

  #begin(nth: number): void {
    const { account, vendorService } = this.#options;
    const kind = this.#random.below(100);
    const vendorid = kind < 25 ? undefined : vendorService.someId(this.#random);
    const intent: Intent = {
      account,
      vendorid,
      fields: this.#fields(nth, kind, vendorid),
      calls: [],
      looks: [],
      told: [],
      refused: [],
    };
    this.intents.push(intent);
    this.#try(intent, 1);
  }

  #fields(nth: number, kind: number, vendorid: number | undefined): VendorEdit {
    if (vendorid === undefined) return { vendor_name: `By hand ${nth}`, language: 'en', currency_code: 'USD' };
    if (kind < 70) return { account_number: `By hand ${nth}` };
    return { vis_state: ([0, 1, 2] as const)[kind % 3]! };
  }

  /** Gives the command, and again a while later where it was not done. */
  #try(intent: Intent, times: number): void {
    const { timeline, trace, daemon: current } = this.#options;
    const daemon = current();
    const pause = 20_000 + this.#random.below(2 * minute);
    const again = times === mostTries && this.#random.happens(againRate);
    if (this.#isOver) return;
    // Each command is a process of its own, which leaves what others have under way alone. Here they share one, so they take turns.
    if (daemon && this.#isUnderWay(daemon, intent.vendorid)) {
      timeline.timer(pause, () => this.#try(intent, times));
      return;
    }
    const what = [intent.vendorid ?? 'new', JSON.stringify(intent.fields)];
    trace.write('person', intent.account, ...what, times, ...(again ? ['again'] : []));
    const attempt = daemon && this.#carryOut(daemon, intent, again);
    const later = (): void => {
      if (this.#isOver || attempt?.outcome === 'done') return;
      if (attempt?.outcome === 'under way' && attempt.daemon.clock.alive) timeline.timer(pause, later);
      else if (times < mostTries) this.#try(intent, times + 1);
    };
    timeline.timer(pause, later);
  }

  #isUnderWay(daemon: Daemon, vendorid: number | undefined): boolean {
    return [...this.#attempts].some(
      (one) => one.daemon === daemon && one.vendorid === vendorid && vendorid !== undefined,
    );
  }

  #carryOut(daemon: Daemon, intent: Intent, again: boolean): Attempt {
    const { timeline, trace } = this.#options;
    const attempt: Attempt = {
      daemon,
      vendorid: intent.vendorid,
      abort: new AbortController(),
      outcome: 'under way',
    };
    const account = daemon.installation.account(intent.account);
    const recording = recordingAccount(account, intent, { daemon: daemon.number, again, now: () => timeline.now });
    const tell = ({ notTaken, vendorid: written }: WriteReport): void => {
      attempt.outcome = notTaken.length === 0 ? 'done' : 'failed';
      if (notTaken.length === 0) intent.told.push({ at: timeline.now, vendorid: written });
      else intent.refused.push(timeline.now);
      trace.write('person was told', attempt.outcome, ...notTaken);
    };
    const options = { signal: attempt.abort.signal, again, by: 'anna', tell };
    this.#attempts.add(attempt);
    const { vendorid, fields } = intent;
    const work =
      vendorid === undefined
        ? createVendor(recording, fields as NewVendor, options)
        : editVendor(recording, vendorid, fields, options);
    work
      .catch((error: unknown) => {
        if (attempt.outcome === 'under way') attempt.outcome = 'failed';
        const words = error instanceof Error ? error.message : String(error);
        trace.write('person was told', words.replaceAll(/\S*simulation-\S*/g, '…'));
      })
      .finally(() => this.#attempts.delete(attempt));
    return attempt;
  }
}
