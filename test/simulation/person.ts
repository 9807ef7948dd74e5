/**
 * A person who writes to the service by the commands' own functions, says the same again where it failed, and remembers all that went
 * out in their name. Everything about them has a stream of its own: where nobody writes, a seed's world is what it was.
 */
import type { NewVendor, VendorEdit, VendorsApi } from '../../src/api/vendors.ts';
import { seededRandom, seedOf, type SeededRandom } from '../../src/sandbox/core/random.ts';
import type { VendorService } from '../../src/sandbox/vendors/vendor-service.ts';
import type { Engine } from '../../src/sync/account/engine.ts';
import { createVendor } from '../../src/sync/write/create.ts';
import { editVendor } from '../../src/sync/write/edit.ts';
import type { Life } from './process.ts';
import type { Plan } from './plan.ts';
import type { Timeline } from './timeline.ts';
import type { Trace } from './trace.ts';

/** What a person wants, however often they say so; a creation has no number yet. */
export interface Intent {
  readonly account: string;
  readonly vendorid: number | undefined;
  readonly fields: VendorEdit;
  /** Times that the program sent it, as it was told to. */
  readonly calls: WriteCall[];
  /** When the program began to look at what the service shows of the vendor. */
  readonly looks: number[];
}

export interface WriteCall {
  readonly life: number;
  readonly from: number;
}

export interface PersonOptions {
  readonly plan: Plan;
  readonly account: string;
  readonly vendorService: VendorService;
  readonly timeline: Timeline;
  readonly trace: Trace;
  readonly life: () => Life | undefined;
}

const minute = 60_000;
/** Times that the same is said. */
const mostTries = 4;

interface Attempt {
  readonly life: Life;
  readonly abort: AbortController;
  outcome: 'under way' | 'done' | 'failed';
}

export class Person {
  readonly intents: Intent[] = [];
  /** Commands that were done. */
  done = 0;
  readonly #options: PersonOptions;
  readonly #throws: SeededRandom;
  readonly #attempts = new Set<Attempt>();
  #isOver = false;

  constructor(options: PersonOptions) {
    this.#options = options;
    this.#throws = seededRandom(seedOf(options.plan.seed, 'person', options.account));
  }

  /** Plans all writes of the safety phase. */
  plan(): void {
    const { plan, timeline } = this.#options;
    for (let nth = 0; nth < plan.writes * plan.minutes; nth += 1)
      timeline.timer(this.#throws.below(plan.minutes * minute), () => this.#begin(nth));
  }

  /** The process is about to end: what is under way is interrupted. */
  interrupt(): void {
    for (const { abort } of this.#attempts) abort.abort(new Error('Interrupted.'));
  }

  /** No more. */
  end(): void {
    this.#isOver = true;
    this.interrupt();
  }

  #begin(nth: number): void {
    const { account, vendorService } = this.#options;
    const kind = this.#throws.below(100);
    const vendorid = kind < 25 ? undefined : vendorService.someId(this.#throws);
    const state = kind < 70 ? undefined : ([0, 1, 2] as const)[kind % 3];
    const fields: VendorEdit =
      vendorid === undefined
        ? { vendor_name: `By hand ${nth}`, language: 'en', currency_code: 'USD' }
        : state === undefined
          ? { account_number: `By hand ${nth}` }
          : { vis_state: state };
    const intent: Intent = { account, vendorid, fields, calls: [], looks: [] };
    this.intents.push(intent);
    this.#try(intent, 1);
  }

  /** Says it, and looks a while later whether it was done. */
  #try(intent: Intent, times: number): void {
    const { timeline, trace, life: current } = this.#options;
    const life = current();
    const pause = 20_000 + this.#throws.below(2 * minute);
    if (this.#isOver) return;
    trace.say('person', intent.account, intent.vendorid ?? 'new', JSON.stringify(intent.fields), times);
    const attempt = life && this.#carryOut(life, intent);
    const later = (): void => {
      if (this.#isOver || attempt?.outcome === 'done') return;
      if (attempt?.outcome === 'under way' && attempt.life.clock.alive) timeline.timer(pause, later);
      else if (times < mostTries) this.#try(intent, times + 1);
    };
    timeline.timer(pause, later);
  }

  #carryOut(life: Life, intent: Intent): Attempt {
    const { trace } = this.#options;
    const abort = new AbortController();
    const attempt: Attempt = { life, abort, outcome: 'under way' };
    const engine = this.#watched(life, intent);
    const options = { signal: abort.signal, again: false, by: 'anna' };
    this.#attempts.add(attempt);
    const { vendorid, fields } = intent;
    const work =
      vendorid === undefined
        ? createVendor(engine, fields as NewVendor, options)
        : editVendor(engine, vendorid, fields, options);
    work
      .then(
        ({ notTaken }) => {
          attempt.outcome = notTaken.length === 0 ? 'done' : 'failed';
          this.done += Number(attempt.outcome === 'done');
          trace.say('person was told', attempt.outcome, ...notTaken);
        },
        (error: unknown) => {
          attempt.outcome = 'failed';
          trace.say(
            'person was told',
            error instanceof Error ? error.message.replaceAll(/\S*simulation-\S*/g, '…') : '',
          );
        },
      )
      .finally(() => this.#attempts.delete(attempt));
    return attempt;
  }

  /** The engine of the process, with a note of each look and each write. */
  #watched(life: Life, intent: Intent): Engine {
    const { timeline } = this.#options;
    const engine = life.installation.account(intent.account).engine;
    const { vendors } = engine;
    const sends = (): void => void intent.calls.push({ life: life.number, from: timeline.now });
    const looks = (): void => void intent.looks.push(timeline.now);
    const watched: VendorsApi = {
      ...vendors,
      page(...asked) {
        looks();
        return vendors.page(...asked);
      },
      read(...asked) {
        looks();
        return vendors.read(...asked);
      },
      create(...asked) {
        sends();
        return vendors.create(...asked);
      },
      edit(...asked) {
        sends();
        return vendors.edit(...asked);
      },
    };
    return { ...engine, vendors: watched };
  }
}
