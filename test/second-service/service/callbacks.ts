/**
 * The registered callbacks with their handshake, and the deliveries. Nothing is sent by a timer: `deliver` makes one attempt for every delivery
 * that waits, so that a test decides when time passes.
 */

import { createHmac } from 'node:crypto';
import { type Answer, refused } from './answers.ts';
import { Chance, type Choices } from './choices.ts';
import type { Change } from './records.ts';

interface Callback {
  readonly id: number;
  readonly event: string;
  readonly uri: string;
  code: string;
  verified: boolean;
  failures: number;
}

export interface Delivery {
  readonly change: Change;
  readonly callback: Callback;
  attempts: number;
  state: 'waiting' | 'acknowledged' | 'lost' | 'dropped';
}

/** The scope of each noun is not looked at: the token has all that it needs. */
const nouns = new Set([
  'bill',
  'bill_vendor',
  'category',
  'client',
  'credit_note',
  'estimate',
  'expense',
  'invoice',
  'item',
  'payment',
  'project',
  'recurring',
  'service',
  'tax',
  'time_entry',
]);
const verbs = new Set(['create', 'update', 'delete', 'sendByEmail']);

const answerMs = 10_000;

export class Callbacks {
  readonly deliveries: Delivery[] = [];
  /** Where a registered address is reached: a test listens elsewhere than at the address that a proxy would serve. */
  reach: (uri: string) => string = (uri) => uri;
  /** False when no more deliveries are lost, repeated or out of order. */
  disturbed = true;
  readonly #choices: Choices;
  readonly #account: string;
  readonly #chance: Chance;
  readonly #callbacks: Callback[] = [];
  readonly #fixedOrder: readonly string[];
  #nextId: number;
  /** Handshakes under way, for a test that waits for them. */
  readonly #sending = new Set<Promise<unknown>>();

  constructor(choices: Choices, account: string) {
    this.#choices = choices;
    this.#account = account;
    this.#chance = new Chance(choices.seed, 'callbacks and deliveries');
    this.#nextId = 100 + this.#chance.below(900_000);
    this.#fixedOrder = this.#chance.shuffled([
      'name',
      'object_id',
      'account_id',
      'business_id',
      'identity_id',
      'user_id',
      'verifier',
      'system',
    ]);
  }

  all(): readonly Readonly<Callback>[] {
    return this.#callbacks;
  }

  /** Answers a request below `/events/callbacks`; `sent` are the promises to wait for before, or to begin after, the answer. */
  async answer(method: string, id: number | undefined, body: unknown, query: URLSearchParams): Promise<Answer> {
    if (id === undefined) {
      if (method === 'GET') return this.#list(query);
      if (method === 'POST') return this.#register(fieldsOf(body));
    } else {
      const callback = this.#callbacks.find((known) => known.id === id);
      if (callback === undefined) return this.#refused(404, 1012, 'Callback not found.');
      if (method === 'GET')
        return this.#choices.callbackById === 'yes' ? this.#one(callback) : this.#refused(404, 1012, 'Not found.');
      if (method === 'PUT') return this.#change(callback, fieldsOf(body));
      if (method === 'DELETE') {
        this.#callbacks.splice(this.#callbacks.indexOf(callback), 1);
        return this.#choices.deleted === '204'
          ? { status: 204, body: undefined }
          : { status: 200, body: { response: {} } };
      }
    }
    return this.#refused(405, 1001, 'Method not allowed.');
  }

  /** Something happened to a vendor: every verified callback of it is told. */
  announce(change: Change): void {
    if (change.kind === 'balance') return;
    const verb = change.kind === 'delete' ? this.#choices.eventOfDeletion : change.kind;
    for (const callback of this.#callbacks) {
      if (!callback.verified || (callback.event !== 'bill_vendor' && callback.event !== `bill_vendor.${verb}`))
        continue;
      const lost = this.disturbed && this.#chance.happens(this.#choices.lostDeliveries);
      const delivery: Delivery = { change, callback, attempts: 0, state: lost ? 'lost' : 'waiting' };
      this.deliveries.push(delivery);
      if (this.disturbed && this.#chance.happens(this.#choices.repeatedDeliveries))
        this.deliveries.push({ ...delivery });
    }
  }

  /** One attempt for every delivery that waits; answers how many still do. */
  async deliver(): Promise<number> {
    const waiting = this.deliveries.filter(({ state }) => state === 'waiting');
    const { deliveryOrder } = this.#choices;
    const ordered =
      deliveryOrder === 'shuffled'
        ? this.#chance.shuffled(waiting)
        : deliveryOrder === 'reversed'
          ? waiting.reverse()
          : waiting;
    for (const delivery of ordered) {
      const { callback } = delivery;
      const verb = delivery.change.kind === 'delete' ? this.#choices.eventOfDeletion : delivery.change.kind;
      delivery.attempts++;
      const taken = await this.#post(
        callback,
        { name: `bill_vendor.${verb}`, object_id: String(delivery.change.id) },
        'form',
        true,
      );
      callback.failures = taken ? 0 : callback.failures + 1;
      if (taken) delivery.state = 'acknowledged';
      else if (delivery.attempts >= this.#choices.attempts) delivery.state = 'dropped';
      if (this.#choices.disables !== 'never' && callback.failures >= 12) callback.verified = false;
    }
    return this.deliveries.filter(({ state }) => state === 'waiting').length;
  }

  /** Ends when no handshake is under way. */
  async handshaken(): Promise<void> {
    while (this.#sending.size > 0) await Promise.all(this.#sending);
  }

  #list(query: URLSearchParams): Answer {
    const [event, uri, verified] = ['event', 'uri', 'verified'].map((name) => query.get(`search[${name}]`));
    const callbacks = this.#callbacks
      .filter((callback) => !event || callback.event === event || callback.event.startsWith(`${event}.`))
      .filter((callback) => (!uri || callback.uri === uri) && (!verified || String(callback.verified) === verified));
    const size = 15;
    const page = Math.max(1, Number(query.get('page') ?? 1));
    const shown = callbacks.slice((page - 1) * size, page * size).map((callback) => shownCallback(callback));
    const total = callbacks.length;
    return {
      status: 200,
      body: { response: { result: { callbacks: shown, page, pages: Math.ceil(total / size), per_page: size, total } } },
    };
  }

  async #register({ event, uri }: Record<string, unknown>): Promise<Answer> {
    if (typeof event !== 'string' || typeof uri !== 'string')
      return this.#refused(422, 1001, 'Event and uri are required.');
    const [noun = '', verb] = event.split('.');
    if (!nouns.has(noun) || (verb !== undefined && !verbs.has(verb))) return this.#refused(422, 1004, 'Unknown event.');
    const known = this.#callbacks.some((callback) => callback.event === event && callback.uri === uri);
    if (known && this.#choices.registeredTwice === '422')
      return this.#refused(422, 1004, 'This callback is registered already.');
    const callback: Callback = { id: this.#nextId++, event, uri, code: '', verified: false, failures: 0 };
    this.#callbacks.push(callback);
    await this.#shakeHands(callback);
    return this.#one(callback);
  }

  async #change(callback: Callback, { verifier, resend }: Record<string, unknown>): Promise<Answer> {
    if (resend === true) {
      callback.verified = false;
      await this.#shakeHands(callback);
      return this.#one(callback);
    }
    if (verifier === undefined) return this.#refused(422, 1001, 'Nothing to change.');
    if (verifier === callback.code) {
      callback.verified = true;
      callback.failures = 0;
      return this.#one(callback);
    }
    return this.#choices.wrongCode === '422'
      ? this.#refused(422, 1004, 'The verifier does not match.')
      : this.#one(callback);
  }

  /** Sends a new code: before the answer is given, or once it has been. */
  async #shakeHands(callback: Callback): Promise<void> {
    callback.code = this.#chance.text(this.#choices.codeLength);
    callback.failures = 0;
    const values = {
      name: 'callback.verify',
      object_id: String(callback.id),
      verifier: callback.code,
      system: 'https://books.example',
    };
    const send = (): Promise<unknown> =>
      this.#post(callback, values, this.#choices.handshakeBody, this.#choices.handshakeSigned);
    if (this.#choices.handshakeTime === 'before the answer') {
      await send();
      return;
    }
    const sending = new Promise((resolve) => setImmediate(resolve)).then(send);
    this.#sending.add(sending);
    void sending.finally(() => this.#sending.delete(sending));
  }

  /** Whether the receiver took it. */
  async #post(
    callback: Callback,
    about: Record<string, string>,
    form: 'form' | 'json',
    signed: boolean,
  ): Promise<boolean> {
    const values: Record<string, string> = {
      ...about,
      account_id: this.#account,
      business_id: '77',
      identity_id: '5',
      user_id: '1',
    };
    const fixed = this.#fixedOrder.filter((name) => name in values);
    const names =
      this.#choices.arrivalOrder === 'fixed' ? Object.keys(values) : this.#chance.shuffled(Object.keys(values));
    const order = { arrival: names, sorted: [...names].sort(), 'a fixed one': fixed }[this.#choices.signedOrder];
    const entries = names.map((name): [string, string] => [name, values[name]!]);
    const headers = {
      'Content-Type': form === 'form' ? 'application/x-www-form-urlencoded' : 'application/json',
      ...(signed ? { 'X-FreshBooks-Hmac-SHA256': signature(order, values, callback.code) } : {}),
    };
    const body =
      form === 'form' ? new URLSearchParams(entries).toString() : JSON.stringify(Object.fromEntries(entries));
    try {
      const answer = await fetch(this.reach(callback.uri), {
        method: 'POST',
        headers,
        body,
        redirect: 'manual',
        signal: AbortSignal.timeout(answerMs),
      });
      await answer.arrayBuffer();
      return answer.ok;
    } catch {
      return false;
    }
  }

  #one(callback: Callback): Answer {
    return { status: 200, body: { response: { result: { callback: shownCallback(callback) } } } };
  }

  #refused(status: number, errno: number, message: string): Answer {
    return refused(this.#choices.errors === 'in 200' ? { ...this.#choices, errors: 'events' } : this.#choices, {
      status,
      errno,
      message,
    });
  }
}

function shownCallback({ id, event, uri, verified }: Callback): Record<string, unknown> {
  return { callbackid: id, id, event, uri, verified, updated_at: '2026-11-02T11:45:09Z' };
}

function fieldsOf(body: unknown): Record<string, unknown> {
  const { callback } = (body ?? {}) as { callback?: Record<string, unknown> };
  return callback ?? {};
}

/** As section 6.4 has it: every value a text, a blank after each colon and comma, non-ASCII letters escaped. */
function signature(order: readonly string[], values: Record<string, string>, code: string): string {
  const json = order.map((name) => `${ascii(name)}: ${ascii(values[name]!)}`).join(', ');
  return createHmac('sha256', Buffer.from(code, 'utf8')).update(`{${json}}`, 'utf8').digest('base64');
}

function ascii(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[^\x20-\x7e]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
