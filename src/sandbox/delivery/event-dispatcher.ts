/** Delivers the events of an account to its callbacks: late, repeated, lost or forged, as the plan says. */
import { createHmac } from 'node:crypto';
import { isRegisteredFor } from '../core/access.ts';
import type { CallbackRecord } from '../core/memory.ts';
import type { SeededRandom } from '../core/random.ts';
import type { World } from '../core/worlds.ts';
import type { CallbackBook } from './callback-book.ts';
import type { DeliveryKind, DeliverySender, OutgoingDelivery } from './delivery-sender.ts';

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

const maxHold = 10_000;
const maxDelay = 600_000;

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
        this.#delivery(callback, { kind, event, objectId: about });
      const { lose, late, repeat, reorder, forge } = this.#plan;
      if (this.#random.happens(forge)) this.#deliveries.sendLater(delivery('forged', objectId + 7), this.#delay());
      if (this.#random.happens(lose)) {
        this.#deliveries.record(delivery('event', objectId), 0, 'lost');
        continue;
      }
      const held = this.#random.happens(reorder) ? this.#random.below(maxHold) : 0;
      const delayed = this.#random.happens(late) ? this.#random.below(maxDelay) : 0;
      const delay = this.#delay() + held + delayed;
      this.#deliveries.sendLater(delivery('event', objectId), delay);
      if (this.#random.happens(repeat))
        this.#deliveries.sendLater(delivery('repeat', objectId), delay + this.#random.below(maxHold));
    }
  }

  /** One event for one callback. A forged one has an invalid signature. */
  #delivery(
    callback: CallbackRecord,
    subject: { readonly kind: DeliveryKind; readonly event: string; readonly objectId: number },
  ): OutgoingDelivery {
    const [sender, callbacks, world, random] = [this.#sender, this.#callbacks, this.#world, this.#random];
    const objectId = {
      resource: String(subject.objectId),
      callback: String(callback.id),
      text: `bill_vendor-${subject.objectId}`,
    }[world.objectId];
    const parameters = random.shuffle([
      ['name', subject.event],
      ['object_id', objectId],
      ['account_id', sender.account],
      ['business_id', String(sender.businessId)],
      ['identity_id', String(sender.identityId)],
      ['user_id', String(sender.userId)],
      ...(world.extraParameter === 'present' ? [['origin', 'Büro «Zürich»: 1,2 / 東京\u007f'] as const] : []),
    ] as const);
    const forgedKey = subject.kind === 'forged' ? random.text(32, 'abcdef0123456789') : undefined;
    return {
      account: sender.account,
      callbackId: callback.id,
      ...subject,
      compose() {
        const current = callbacks.get(callback.id);
        if (!current?.verified || current.disabled) return undefined;
        const key = forgedKey ?? (world.signAt === 'event' ? callback.verifier : current.verifier);
        return {
          uri: current.uri,
          headers: { 'content-type': form, [world.signatureHeader]: sign(parameters, key, world) },
          body: encode(parameters),
        };
      },
    };
  }

  #delay(): number {
    const [from, to] = this.#plan.delay;
    return from + this.#random.below(Math.max(1, to - from + 1));
  }
}

/** Writes the POSTs that a callback receives: its verification code, and the events it registered for. */

/** Ids that deliveries of an account name. */
export interface Sender {
  readonly account: string;
  readonly businessId: number;
  readonly identityId: number;
  readonly userId: number;
}

const form = 'application/x-www-form-urlencoded';

/** The verification of a callback, with the code it has when it is sent. */
export function verificationDelivery(
  sender: Sender,
  callbacks: CallbackBook,
  id: number,
  world: World,
): OutgoingDelivery {
  return {
    account: sender.account,
    callbackId: id,
    kind: 'verification',
    event: 'callback.verify',
    objectId: id,
    compose() {
      const callback = callbacks.get(id);
      if (!callback || callback.verified) return undefined;
      const parameters: Parameters = [
        ['user_id', String(sender.userId)],
        ['name', 'callback.verify'],
        ['verifier', callback.verifier],
        ['object_id', String(id)],
        ['account_id', sender.account],
        ['system', 'https://sandbox.example'],
      ];
      const asJson = world.handshakeForm === 'json';
      return {
        uri: callback.uri,
        headers: {
          'content-type': asJson ? 'application/json' : form,
          ...(world.handshakeSigned === 'yes'
            ? { [world.signatureHeader]: sign(parameters, callback.verifier, world) }
            : {}),
        },
        body: asJson ? JSON.stringify(Object.fromEntries(parameters)) : encode(parameters),
      };
    },
  };
}

function encode(parameters: Parameters): string {
  return new URLSearchParams(parameters.map(([name, value]): [string, string] => [name, value])).toString();
}

/** Names and values in the order in which they are sent. */
export type Parameters = readonly (readonly [name: string, value: string])[];

/** The base64 HMAC-SHA256 of the parameters as Python's `json.dumps` writes them, keyed with the verifier. */
export function sign(parameters: Parameters, verifier: string, world: World): string {
  return createHmac('sha256', verifier)
    .update(pythonJson(inOrder(parameters, world), world))
    .digest('base64');
}

function inOrder(parameters: Parameters, { keyOrder }: World): Parameters {
  if (keyOrder === 'arrival') return parameters;
  // The last letters first: no order that anybody would think of.
  const rank = (name: string): string => (keyOrder === 'sorted' ? name : Array.from(name).reverse().join(''));
  return [...parameters].sort(([a], [b]) => (rank(a) < rank(b) ? -1 : 1));
}

function pythonJson(parameters: Parameters, { escaping, spacing }: World): string {
  const quote = (text: string): string => {
    const quoted = escaping === 'ascii' ? asciiQuote(text) : JSON.stringify(text);
    return spacing === 'every' ? quoted.replace(/[:,]/g, '$& ') : quoted;
  };
  return `{${parameters.map(([name, value]) => `${quote(name)}: ${quote(value)}`).join(', ')}}`;
}

/** Python escapes everything outside of space to tilde, one `\uXXXX` for each UTF-16 unit. */
function asciiQuote(text: string): string {
  return JSON.stringify(text).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
