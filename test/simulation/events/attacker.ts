/** Somebody who knows our address, and no secret: what they send is true to the form, and must never be taken (P6). */
import { sleep } from '../../../src/domain/clock.ts';
import { seededRandom, seedOf, type SeededRandom } from '../../../src/sandbox/core/random.ts';
import { sign } from '../../../src/sandbox/delivery/event-dispatcher.ts';
import { statusOf, type Outcome } from '../../../src/webhook/delivery-receiver.ts';
import type { Plan } from '../plan/plan.ts';
import type { Timeline } from '../machine/timeline.ts';

/** One POST. */
export interface Sheet {
  readonly uri: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface AttackerOptions {
  readonly plan: Plan;
  readonly timeline: Timeline;
  /** @returns undefined if nothing listens. */
  readonly receive: (sheet: Sheet) => Promise<Outcome | undefined>;
  readonly broken: (promise: string, what: string) => void;
}

/** The account to whose address something is sent. */
function accountIn(uri: string): string {
  return new URL(uri).pathname.split('/')[2] ?? '';
}

export const signatureHeader = 'X-Service-Hmac-SHA256';
/** What some services send that the reference does not name. */
const beyondReference = 'origin';
const form = 'application/x-www-form-urlencoded';

/** How often a code of one's own is used, and how long it takes until then at most, in milliseconds. */
const uses = 4;
const useWithin = 6_000;

export class Attacker {
  readonly #options: AttackerOptions;
  readonly #random: SeededRandom;
  #hasForged = false;

  constructor(options: AttackerOptions) {
    this.#options = options;
    this.#random = seededRandom(seedOf(options.plan.seed, 'stranger'));
  }

  /** A delivery that the service never sent, with an invalid signature; and a valid one to an address that is not quite ours. */
  async forge(sheet: Sheet): Promise<void> {
    const about = new URLSearchParams(sheet.body);
    about.set('object_id', this.#someVendor());
    about.set('name', 'bill_vendor.update');
    // The program searches for an order of keys that fits. For seven keys, in vain, that takes as long as hundreds of requests.
    if (this.#hasForged) about.delete(beyondReference);
    this.#hasForged = true;
    const signature = Buffer.from(this.#random.text(32, 'abcdefghij')).toString('base64');
    const headers = { ...sheet.headers, 'content-type': form, [signatureHeader]: signature };
    await this.#refused({ ...sheet, headers, body: about.toString() }, 'a forged delivery was taken');
    const stray = await this.#options.receive({ ...sheet, uri: `${sheet.uri}x` });
    if (stray !== undefined && stray !== 'unknown_path')
      this.#options.broken('P6', `a delivery to a wrong path was not refused: ${stray}`);
  }

  /** A code of one's own in place of the service's `code`, and then deliveries that are signed with it. */
  async introduce(sheet: Sheet, code: string): Promise<void> {
    const { plan, timeline, receive } = this.#options;
    const own = this.#random.text(code.length, 'klmnopqrstuvwxyz');
    await receive({ ...sheet, body: sheet.body.replaceAll(code, own) });
    for (let use = 0; use < uses; use += 1) {
      await sleep(timeline.clock, this.#random.below(useWithin));
      const pairs = [
        ['name', 'bill_vendor.update'],
        ['object_id', this.#someVendor()],
        ['account_id', accountIn(sheet.uri)],
      ] as const;
      const headers = { 'content-type': form, [signatureHeader]: sign(pairs, own, plan.world) };
      const body = new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, value])).toString();
      await this.#refused({ ...sheet, headers, body }, "a delivery signed with a stranger's code was taken");
    }
  }

  async #refused(sheet: Sheet, otherwise: string): Promise<void> {
    const outcome = await this.#options.receive(sheet);
    if (outcome !== undefined && statusOf[outcome] < 300) this.#options.broken('P6', `${otherwise}: ${outcome}`);
  }

  #someVendor(): string {
    return String(1_000 + this.#random.below(500));
  }
}
