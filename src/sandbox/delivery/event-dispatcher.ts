/** Tells the callbacks of an account what happened, as late, as often and as falsely as the plan wants. */
import type { CallbackBook } from './callback-book.ts';
import type { Chance } from '../core/random.ts';
import { hears } from '../core/event-scopes.ts';
import { eventLetter, type Sender } from './outgoing-delivery.ts';
import type { LetterKind, PostOffice } from './delivery-sender.ts';
import type { World } from '../core/worlds.ts';

/** Probabilities from 0 to 1, and how long a delivery takes at least and at most, in milliseconds. */
export interface DeliveryPlan {
  readonly delay: readonly [from: number, to: number];
  /** Never sent. */
  readonly lose: number;
  /** Sent minutes later. */
  readonly late: number;
  /** Sent again some seconds after the first time, acknowledged or not. */
  readonly repeat: number;
  /** Held back for some seconds, so that later ones overtake it. */
  readonly reorder: number;
  /** Accompanied by one that the service never sent. */
  readonly forge: number;
}

/** Nothing goes wrong, and nothing takes long. */
export const promptPlan: DeliveryPlan = { delay: [200, 1_500], lose: 0, late: 0, repeat: 0, reorder: 0, forge: 0 };

const longestHold = 10_000;
const longestDelay = 600_000;

export class Announcer {
  readonly #sender: Sender;
  readonly #callbacks: CallbackBook;
  readonly #office: PostOffice;
  readonly #plan: DeliveryPlan;
  readonly #throws: Chance;
  readonly #world: World;

  constructor(
    sender: Sender,
    callbacks: CallbackBook,
    office: PostOffice,
    plan: DeliveryPlan,
    throws: Chance,
    world: World,
  ) {
    this.#sender = sender;
    this.#callbacks = callbacks;
    this.#office = office;
    this.#plan = plan;
    this.#throws = throws;
    this.#world = world;
  }

  /** Something happened to the resource `objectId`; every verified callback that hears of it is told. */
  announce(event: string, objectId: number): void {
    for (const callback of this.#callbacks.all()) {
      if (!callback.verified || callback.disabled || !hears(callback.event, event)) continue;
      const letter = (kind: LetterKind, about: number) =>
        eventLetter(
          this.#sender,
          this.#callbacks,
          callback,
          { kind, event, objectId: about },
          this.#throws,
          this.#world,
        );
      const { lose, late, repeat, reorder, forge } = this.#plan;
      if (this.#throws.happens(forge)) this.#office.sendLater(letter('forged', objectId + 7), this.#delay());
      if (this.#throws.happens(lose)) {
        this.#office.note(letter('event', objectId), 0, undefined, 'lost');
        continue;
      }
      const held = this.#throws.happens(reorder) ? this.#throws.below(longestHold) : 0;
      const delayed = this.#throws.happens(late) ? this.#throws.below(longestDelay) : 0;
      const delay = this.#delay() + held + delayed;
      this.#office.sendLater(letter('event', objectId), delay);
      if (this.#throws.happens(repeat))
        this.#office.sendLater(letter('repeat', objectId), delay + this.#throws.below(longestHold));
    }
  }

  #delay(): number {
    const [from, to] = this.#plan.delay;
    return from + this.#throws.below(Math.max(1, to - from + 1));
  }
}
