/** Delivers the events of an account to its callbacks: late, repeated, lost or forged, as the plan says. */
import type { CallbackBook } from './callback-book.ts';
import type { SeededRandom } from '../core/random.ts';
import { isRegisteredFor } from '../core/event-scopes.ts';
import { eventDelivery, type Sender } from './outgoing-delivery.ts';
import type { DeliveryKind, DeliverySender } from './delivery-sender.ts';
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

export class EventDispatcher {
  readonly #sender: Sender;
  readonly #callbacks: CallbackBook;
  readonly #deliveries: DeliverySender;
  readonly #plan: DeliveryPlan;
  readonly #random: SeededRandom;
  readonly #world: World;

  constructor(
    sender: Sender,
    callbacks: CallbackBook,
    deliveries: DeliverySender,
    plan: DeliveryPlan,
    random: SeededRandom,
    world: World,
  ) {
    this.#sender = sender;
    this.#callbacks = callbacks;
    this.#deliveries = deliveries;
    this.#plan = plan;
    this.#random = random;
    this.#world = world;
  }

  /** Something happened to the resource `objectId`: sends the event to every verified callback registered for it. */
  announce(event: string, objectId: number): void {
    for (const callback of this.#callbacks.all()) {
      if (!callback.verified || callback.disabled || !isRegisteredFor(callback.event, event)) continue;
      const delivery = (kind: DeliveryKind, about: number) =>
        eventDelivery(
          this.#sender,
          this.#callbacks,
          callback,
          { kind, event, objectId: about },
          this.#random,
          this.#world,
        );
      const { lose, late, repeat, reorder, forge } = this.#plan;
      if (this.#random.happens(forge)) this.#deliveries.sendLater(delivery('forged', objectId + 7), this.#delay());
      if (this.#random.happens(lose)) {
        this.#deliveries.record(delivery('event', objectId), 0, undefined, 'lost');
        continue;
      }
      const held = this.#random.happens(reorder) ? this.#random.below(longestHold) : 0;
      const delayed = this.#random.happens(late) ? this.#random.below(longestDelay) : 0;
      const delay = this.#delay() + held + delayed;
      this.#deliveries.sendLater(delivery('event', objectId), delay);
      if (this.#random.happens(repeat))
        this.#deliveries.sendLater(delivery('repeat', objectId), delay + this.#random.below(longestHold));
    }
  }

  #delay(): number {
    const [from, to] = this.#plan.delay;
    return from + this.#random.below(Math.max(1, to - from + 1));
  }
}
