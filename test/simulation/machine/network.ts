/** The network to the service: requests and answers that take their time, get lost and broken, and are counted. */
import { sleep } from '../../../src/domain/clock.ts';
import { seededRandom, seedOf, type SeededRandom } from '../../../src/sandbox/core/random.ts';
import { targetOf } from '../../../src/sandbox/endpoints/sandbox-call.ts';
import type { FaultKind } from '../../../src/sandbox/core/worlds.ts';
import type { Sandbox } from '../../../src/sandbox/service.ts';
import { aborted, connectionReset, responseOf } from '../../support/network/sandbox-response.ts';
import type { ProcessClock } from './process-clock.ts';
import type { Plan } from '../plan/plan.ts';
import type { Timeline } from './timeline.ts';
import type { Trace } from './trace.ts';

/** A request that reached the service. */
export interface Arrival {
  readonly at: number;
  readonly daemon: number;
  readonly method: string;
  readonly path: string;
  readonly body: string;
  /** Of what is more than a question: whether the service did it. */
  isCarriedOut?: boolean;
}

/** What was asked about the vendors of an account. */
export interface View {
  /** When each vendor was asked for by its number, and answered; oldest first. */
  readonly asked: Map<number, readonly number[]>;
  /** Pages of the vendor list that were asked for, and answered. */
  readonly lists: { readonly at: number; readonly page: number }[];
  /** When the vendor list was asked for, and came empty although it is not. */
  readonly emptied: number[];
  /** When its vendors of state 2 were asked for, and came empty. */
  readonly emptiedArchived: number[];
}

export interface NetworkOptions {
  readonly plan: Plan;
  readonly accounts: readonly string[];
  readonly sandbox: Sandbox;
  readonly timeline: Timeline;
  readonly trace: Trace;
}

interface AboutVendor {
  readonly response: { readonly result: { readonly bill_vendor: { vendorid: number } } };
}

type SandboxAnswer = Awaited<ReturnType<Sandbox['handle']>>;

/** What is not slow takes so long at most, in milliseconds. */
const quick = 400;

export class Network {
  /** Every request that reached the service, oldest first. */
  readonly arrivals: Arrival[] = [];
  /** What was asked about vendors, by account. */
  readonly views: ReadonlyMap<string, View>;
  /** Faults that truly happened, by kind. */
  readonly met = new Map<string, number>();
  /** Requests about callbacks that are under way. */
  handshaking = 0;
  /** Meets every request, in place of the plan's rates, while it is set. */
  outage: FaultKind | undefined;
  /** What the answers about the vendors of an account wait for. */
  readonly #gates = new Map<string, Promise<void>>();
  /** Nothing goes wrong any more. */
  isFaultFree = false;
  readonly #options: NetworkOptions;
  readonly #random: SeededRandom;
  readonly #writeRandom: SeededRandom;

  constructor(options: NetworkOptions) {
    this.#options = options;
    this.#random = seededRandom(seedOf(options.plan.seed, 'road'));
    this.#writeRandom = seededRandom(seedOf(options.plan.seed, 'write answers'));
    this.views = new Map(
      options.accounts.map((account) => [account, { asked: new Map(), lists: [], emptied: [], emptiedArchived: [] }]),
    );
  }

  /** The fetch of one process: what is sent arrives even if the sender dies, and the answer is then lost. */
  fetchFor(daemon: number, clock: ProcessClock): typeof globalThis.fetch {
    return async (input, init) => {
      const url = input instanceof URL ? input : new URL(input instanceof Request ? input.url : input);
      const signal = init?.signal ?? new AbortController().signal;
      signal.throwIfAborted();
      const method = init?.method ?? 'GET';
      const target = targetOf(url.pathname);
      const about = target?.resource;
      if (about === 'callbacks') this.handshaking += 1;
      const answered = this.#travel(
        { url, method, body: typeof init?.body === 'string' ? init.body : '', daemon },
        init,
      )
        .finally(() => {
          if (about === 'callbacks') this.handshaking -= 1;
        })
        .then(async (answer) => {
          await sleep(clock, this.#latency(url));
          if (about === 'vendors') await this.#gates.get(target?.account ?? '');
          return answer;
        });
      answered.catch(() => undefined);
      const answer = await Promise.race([answered, aborted(signal)]);
      const { breakage } = answer;
      if (breakage?.kind === 'reset') throw connectionReset();
      if (breakage?.kind === 'hang') return aborted(signal);
      return responseOf(answer, signal);
    };
  }

  /** Holds back what is answered about an account's vendors from now on, until the function that it returns is called. */
  hold(account: string): () => void {
    let release = (): void => undefined;
    this.#gates.set(account, new Promise((resolve) => (release = resolve)));
    return release;
  }

  async #travel(
    { url, method, body, daemon }: { url: URL; method: string; body: string; daemon: number },
    init: RequestInit | undefined,
  ): Promise<SandboxAnswer> {
    const { sandbox, timeline, trace } = this.#options;
    await sleep(timeline.clock, this.#latency(url));
    const fault = this.#fault();
    const arrival: Arrival = { at: timeline.now, daemon, method, path: url.pathname, body };
    this.arrivals.push(arrival);
    trace.write('request', daemon, method, url.pathname + url.search, fault ?? '');
    if (fault) {
      this.met.set(fault, (this.met.get(fault) ?? 0) + 1);
      sandbox.faults.next({ kind: fault });
    }
    const before = this.#vendorsAsOf(method, url);
    const answer = await sandbox.handle({
      method,
      path: url.pathname,
      query: url.searchParams,
      headers: init?.headers as Record<string, string>,
      body: Buffer.from(body),
    });
    trace.write('answer', answer.status, answer.body.length, answer.breakage?.kind ?? '');
    this.#note(url, fault, answer);
    if (method === 'GET' || targetOf(url.pathname)?.resource !== 'vendors') return answer;
    arrival.isCarriedOut = this.#vendorsAsOf(method, url) !== before;
    return this.#spoiled(answer, method);
  }

  /** What a write changes: the version of its vendor, or how many vendors there are. */
  #vendorsAsOf(method: string, url: URL): number | undefined {
    const target = targetOf(url.pathname);
    if (method === 'GET' || target?.resource !== 'vendors' || !this.views.has(target.account)) return undefined;
    const vendorService = this.#options.sandbox.vendors(target.account);
    return target.id === undefined ? vendorService.all().length : vendorService.version(Number(target.id));
  }

  /** What happens to the answer to a write. */
  #spoiled(answer: SandboxAnswer, method: string): SandboxAnswer {
    if (this.isFaultFree || answer.status >= 300 || answer.breakage !== undefined || !this.#writeRandom.happens(0.4))
      return answer;
    // Who was created, only the answer tells.
    const kinds = ['lost', 'cut off', 'empty', ...(method === 'PUT' ? ['about another'] : [])];
    const kind = this.#writeRandom.pick(kinds);
    this.met.set(`write ${kind}`, (this.met.get(`write ${kind}`) ?? 0) + 1);
    this.#options.trace.write('spoiled', kind);
    if (kind === 'lost') return { ...answer, breakage: { kind: 'reset' } };
    if (kind === 'empty') return { ...answer, body: Buffer.of() };
    if (kind === 'cut off') return { ...answer, body: answer.body.subarray(0, answer.body.length >> 1) };
    const told = JSON.parse(Buffer.from(answer.body).toString()) as AboutVendor;
    told.response.result.bill_vendor.vendorid += 1;
    const text = JSON.stringify(told);
    return { ...answer, body: Buffer.from(text) };
  }

  /** What a question about vendors may prove. Lists of one state prove nothing about others, nor do emptied ones, nor those that are declined. */
  #note(url: URL, fault: FaultKind | undefined, answer: SandboxAnswer): void {
    const target = targetOf(url.pathname);
    const at = this.#options.timeline.now;
    const view = target && this.views.get(target.account);
    if (!view || target.resource !== 'vendors') return;
    const isAnswered = fault === undefined || fault === 'wrong_page';
    if (target.id !== undefined && (isAnswered || fault === 'empty_list'))
      view.asked.set(Number(target.id), [...(view.asked.get(Number(target.id)) ?? []), at]);
    const wanted = url.searchParams.get('search[vis_state]');
    if (wanted === '2' && fault === 'empty_list') view.emptiedArchived.push(at);
    if (target.id !== undefined || wanted !== null) return;
    if (isAnswered && Buffer.from(answer.body).includes('"bill_vendors"'))
      view.lists.push({ at, page: Number(url.searchParams.get('page')) });
    if (fault === 'empty_list') view.emptied.push(at);
  }

  #fault(): FaultKind | undefined {
    if (this.isFaultFree) return undefined;
    if (this.outage) return this.outage;
    const { faults } = this.#options.plan;
    return (Object.entries(faults) as [FaultKind, number][]).find(([, rate]) => this.#random.happens(rate))?.[0];
  }

  #latency(url: URL): number {
    const { latency, slow } = this.#options.plan;
    if (this.isFaultFree) return 5 + this.#random.below(50);
    const isQuick = slow === 'lists' && targetOf(url.pathname)?.id !== undefined;
    return 5 + this.#random.below(isQuick ? Math.min(latency, quick) : latency);
  }
}
