/**
 * The network from the service to us: deliveries that are lost, late, repeated, overtaken and forged, and answers that do not
 * arrive. It keeps the list of what was acknowledged, outside of the program.
 */
import { sleep } from '../../../src/domain/clock.ts';
import type { HttpRequest } from '../../../src/http/server.ts';
import { seededRandom, seedOf, type SeededRandom } from '../../../src/sandbox/core/random.ts';
import type { Post } from '../../../src/sandbox/delivery/delivery-sender.ts';
import { sign } from '../../../src/sandbox/delivery/event-dispatcher.ts';
import { accountOfPath } from '../../../src/webhook/address.ts';
import { statusOf, type Outcome } from '../../../src/webhook/delivery-receiver.ts';
import type { Daemon } from '../machine/process.ts';
import type { Plan } from '../plan/plan.ts';
import { signatureHeader, Attacker, type Sheet } from '../events/attacker.ts';
import type { Timeline } from '../machine/timeline.ts';
import type { Trace } from '../machine/trace.ts';

export interface DeliveryOracleOptions {
  readonly plan: Plan;
  readonly timeline: Timeline;
  readonly trace: Trace;
  /** Who answers now, if anybody does. */
  readonly daemon: () => Daemon | undefined;
  /** The keys with which the service signs now. */
  readonly keys: () => readonly string[];
  /** A promise was broken. */
  readonly broken: (promise: string, what: string) => void;
}

/** The longest that an answer may take. */
const answerWithin = 10_000;

export class DeliveryOracle {
  /** Acknowledged deliveries, by what the journal shows of them. */
  readonly acknowledged = new Map<string, number>();
  /** True deliveries that reached us, by the same. */
  readonly arrived = new Map<string, number>();
  /** The outcomes of deliveries that arrived. */
  readonly outcomes = new Map<string, number>();
  isFaultFree = false;
  readonly #options: DeliveryOracleOptions;
  readonly #random: SeededRandom;
  readonly #attacker: Attacker;
  /** Every key that the service ever signed with, and those of them that a signature was believed for. */
  readonly #keys = new Set<string>();
  readonly #believed = new Set<string>();

  constructor(options: DeliveryOracleOptions) {
    this.#options = options;
    this.#random = seededRandom(seedOf(options.plan.seed, 'mailbox'));
    const { daemon, plan, timeline, broken } = options;
    const receive = async (sheet: Sheet): Promise<Outcome | undefined> => {
      const process = daemon();
      return process && this.#receive(process, sheet);
    };
    this.#attacker = new Attacker({ plan, timeline, receive, broken });
  }

  /** The wall clock is set: days may change, and earlier claims no longer hold. */
  forgetMoments(): void {
    this.#believed.clear();
  }

  /** How the sandbox's deliveries leave. */
  readonly post: Post = async (uri, headers, body) => {
    const { keys, plan, timeline } = this.#options;
    const sheet = { uri, headers, body };
    for (const key of keys()) this.#keys.add(key);
    const happens = (rate: number): boolean => !this.isFaultFree && this.#random.happens(rate);
    const later = (copy: Sheet, ms: number): void =>
      void sleep(timeline.clock, this.#random.below(ms)).then(() => this.#deliver(copy));
    const code = keyOf(body) === undefined ? keys().find((key) => body.includes(key)) : undefined;
    if (happens(plan.forge)) void (code ? this.#attacker.introduce(sheet, code) : this.#attacker.forge(sheet));
    if (happens(plan.repeat)) later(sheet, 10_000);
    // Somebody on the way takes it and says thank you.
    if (happens(plan.lose)) return { status: 200 };
    if (happens(plan.late)) {
      later(sheet, 240_000);
      return { status: 200 };
    }
    if (happens(plan.reorder)) {
      later(sheet, 8_000);
      return { status: 200 };
    }
    const outcome = await this.#deliver(sheet);
    if (outcome === undefined || happens(plan.answersLost)) throw new Error('No answer.');
    return { status: statusOf[outcome] };
  };

  /** Sends one delivery. @returns undefined if there was no answer in time. */
  async #deliver(sheet: Sheet): Promise<Outcome | undefined> {
    const { timeline } = this.#options;
    await sleep(timeline.clock, 1 + this.#random.below(40));
    const daemon = this.#options.daemon();
    if (!daemon) return undefined;
    const key = keyOf(sheet.body);
    if (key) this.arrived.set(key, (this.arrived.get(key) ?? 0) + 1);
    const outcome = await this.#within(this.#receive(daemon, sheet));
    if (key) this.#judge(sheet, outcome);
    return outcome;
  }

  /** A key that was believed once is good for at least a day. */
  #judge({ headers, body }: Sheet, outcome: Outcome | undefined): void {
    const { broken, plan } = this.#options;
    const parameters = [...new URLSearchParams(body)];
    const signedBy = (key: string): boolean => sign(parameters, key, plan.world) === headers[signatureHeader];
    if (outcome === 'accepted' && ![...this.#believed].some(signedBy))
      for (const key of [...this.#keys].filter(signedBy)) this.#believed.add(key);
    if (outcome === 'wrong_signature' && [...this.#believed].some(signedBy))
      broken('P2', 'a genuine delivery was refused whose key had been believed before');
  }

  async #receive(daemon: Daemon, { uri, headers, body }: Sheet): Promise<Outcome> {
    const { trace, timeline } = this.#options;
    if (daemon.clock.paused > 0) await sleep(timeline.clock, daemon.clock.paused);
    const path = new URL(uri).pathname;
    const account = accountOfPath(path, daemon.tokens);
    if (account === undefined) return 'unknown_path';
    const begun = timeline.now;
    const outcome = await daemon.receiver.receive(account, requestOf(path, headers, body), { takesCodes: true });
    const key = keyOf(body);
    trace.write('post', key ?? 'code', outcome);
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
    if (key && statusOf[outcome] < 300) this.acknowledged.set(key, (this.acknowledged.get(key) ?? 0) + 1);
    if (timeline.now - begun > answerWithin && daemon.clock.pausedOnce < begun)
      this.#options.broken('P8', `a delivery was answered after ${timeline.now - begun} ms`);
    return outcome;
  }

  /** The sender waits no longer than it says. */
  #within(answer: Promise<Outcome>): Promise<Outcome | undefined> {
    const { timeline } = this.#options;
    return new Promise((resolve) => {
      const cancel = timeline.timer(answerWithin, () => resolve(undefined));
      void answer.then((outcome) => {
        cancel();
        resolve(outcome);
      });
    });
  }
}

/** What a delivery and its row in the journal have in common; undefined for a verification. */
function keyOf(body: string): string | undefined {
  if (body.startsWith('{')) return undefined;
  const told = new URLSearchParams(body);
  // The journal has ids.
  const parts = [told.get('account_id'), told.get('name'), told.get('object_id')?.replace(/^.*\D.*$/, '')];
  return told.has('verifier') ? undefined : parts.map((part) => part ?? '').join(' ');
}

/** A connection that stays open. */
const listening = new AbortController().signal;

function requestOf(path: string, headers: Readonly<Record<string, string>>, body: string): HttpRequest {
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    method: 'POST',
    path,
    params: {},
    query: new URLSearchParams(),
    headers: Object.fromEntries(lower),
    headersDistinct: Object.fromEntries(lower.map(([name, value]) => [name, [value]])),
    rawHeaders: Object.entries(headers).flat(),
    body: Buffer.from(body),
    signal: listening,
  };
}
