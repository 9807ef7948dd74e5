/** The accounting service of the reference, without sockets; the clock is passed in. */
import { setMaxListeners } from 'node:events';
import type { Clock } from '../domain/clock.ts';
import { Access, requireAccount, unauthenticated, type Grant } from './core/access.ts';
import { Account, type AccountEvent, type GatewayBook } from './account/account.ts';
import { promptPlan, type DeliveryPlan } from './delivery/event-dispatcher.ts';
import {
  allowedMethods,
  headerOf,
  refusedOptional,
  targetOf,
  type SandboxRequest,
  type Target,
} from './endpoints/sandbox-call.ts';
import { answerCallbacks } from './endpoints/callback-endpoints.ts';
import type { CallbackBook } from './delivery/callback-book.ts';
import { seededRandom, seedOf, type SeededRandom } from './core/random.ts';
import { changeByItself } from './account/churn.ts';
import { type FaultKind, defaultWorld, type World } from './core/worlds.ts';
import { RateMeters, usualLimits, type RateLimits } from './core/rate-meters.ts';
import { breakUp, falsify, Faults, insteadOf, tooMany } from './faults.ts';
import { answerGateways, answerVendors } from './endpoints/vendor-endpoints.ts';
import type { Memory } from './core/memory.ts';
import {
  answerIdentity,
  identityPath,
  answerAuthorize,
  answerRevoke,
  answerToken,
  authorizePath,
  revokePath,
  tokenPath,
  type TokenTerms,
} from './endpoints/token-endpoint.ts';
import { answerManual, isManualPath } from './endpoints/manual-endpoints.ts';
import { DeliverySender, type Attempt, type Post } from './delivery/delivery-sender.ts';
import {
  areaOf,
  nothingThere,
  Refusal,
  refusalReply,
  encodeReply,
  preflight,
  type Answer,
  type Area,
  type Reply,
} from './core/reply.ts';
import type { VendorService } from './vendors/vendor-service.ts';

export interface SandboxOptions {
  /** Same seed, same service. */
  readonly seed?: string;
  readonly accounts: readonly string[];
  /** Valid from the start, with every scope and account. */
  readonly token?: string;
  /** Whether pages of other sites may ask, as those of the service; default: no. */
  readonly cors?: boolean;
  /** Lifetime of tokens in seconds; default: `token` never expires, others after twelve hours. */
  readonly tokenLifetime?: number;
  /** Scopes of tokens; default: all. */
  readonly scopes?: readonly string[];
  /** Valid for one new pair of tokens at /auth/oauth/token. */
  readonly refreshToken?: string;
  /** The only application that gets tokens; default: any, which has to keep to its secret. */
  readonly client?: TokenTerms['client'];
  /** With how many vendors each account begins. */
  readonly vendors?: number;
  readonly world?: World;
  readonly deliveries?: Partial<DeliveryPlan>;
  /** Probability of each fault, for every request. */
  readonly faults?: Readonly<Partial<Record<FaultKind, number>>>;
  /** null for none. */
  readonly rateLimits?: RateLimits | null;
  /** Changes a second that each account makes by itself. */
  readonly churn?: number;
  /** Events a second, about other things than vendors, that happen in each account. */
  readonly events?: number;
  /** What an earlier start has kept, and where changes are kept. Its seed and records count, not the options. */
  readonly memory?: Memory;
}

export interface VendorChange {
  readonly account: string;
  readonly vendorid: number;
  /** How often the vendor has been written, from 1; 0 when it vanished. */
  readonly version: number;
}

export class Sandbox {
  readonly access: Access;
  readonly faults: Faults;
  readonly world: World;
  readonly #clock: Clock;
  /** None without limits. */
  readonly #meters: RateMeters | undefined;
  readonly #random: SeededRandom;
  readonly #terms: TokenTerms;
  /** Headers that let pages of other sites read the answers. */
  readonly #toPages: Readonly<Record<string, string>>;
  readonly #sender: DeliverySender;
  readonly #accounts = new Map<string, Account>();
  readonly #addAccount: (accountId: string) => void;
  readonly #requestListeners = new Set<(request: SandboxRequest) => void>();
  readonly #eventListeners = new Set<(event: AccountEvent) => void>();
  readonly #changeListeners = new Set<(change: VendorChange) => void>();
  readonly #stopped = new AbortController();

  /** Random changes and deliveries happen from now on, until `stop`. */
  constructor(options: SandboxOptions, outside: { readonly clock: Clock; readonly post: Post }) {
    const { memory } = options;
    const seed = seedOf(memory?.seed ?? options.seed ?? '');
    const life = memory?.starts ?? 1;
    /** Seeds of what must not repeat after a restart. */
    const fresh = (...what: string[]) => (life === 1 ? seedOf(seed, ...what) : seedOf(seed, ...what, life));
    this.access = new Access(memory);
    const chosen = options.world ?? defaultWorld;
    const world = { ...chosen, records: memory?.records ?? chosen.records };
    this.world = world;
    this.#clock = outside.clock;
    this.#meters = options.rateLimits === null ? undefined : new RateMeters(options.rateLimits ?? usualLimits, world);
    this.#random = seededRandom(fresh('service'));
    this.faults = new Faults(options.faults ?? {}, seededRandom(fresh('faults')));
    this.#sender = new DeliverySender(outside.clock, outside.post, world, (account, callbackId) =>
      this.#account(account).callbacks.disable(outside.clock.now(), callbackId),
    );
    const around = {
      world,
      clock: outside.clock,
      sender: this.#sender,
      seed,
      vendors: options.vendors ?? 0,
      memory,
      life,
      plan: { ...promptPlan, ...options.deliveries },
      onChange: (account: string, vendorid: number, version: number) => {
        for (const listener of this.#changeListeners) listener({ account, vendorid, version });
      },
      onEvent: (event: AccountEvent) => {
        for (const listener of this.#eventListeners) listener(event);
      },
    };
    // Each account listens to it.
    setMaxListeners(0, this.#stopped.signal);
    const { tokenLifetime: lifetime, scopes, client } = options;
    this.#terms = { lifetime, scopes, client };
    this.#toPages = options.cors ? { 'access-control-allow-origin': '*' } : {};
    if (options.token !== undefined)
      this.access.accept(options.token, scopes, lifetime && outside.clock.now() + lifetime * 1_000);
    if (options.refreshToken !== undefined) this.access.allowRefresh(options.refreshToken);
    this.#addAccount = (id) => {
      const account = new Account(id, around);
      this.#accounts.set(id, account);
      const random = (of: string) => seededRandom(fresh(id, of));
      changeByItself(account, options, outside.clock, random, this.#stopped.signal);
    };
    for (const id of options.accounts) this.#addAccount(id);
  }

  /** Adds an account, with as many vendors as the others began with, unless it exists. */
  open(accountId: string): void {
    if (!this.#accounts.has(accountId)) this.#addAccount(accountId);
  }

  /** Answers one request; never throws for what a caller may send. */
  async handle(request: SandboxRequest): Promise<Answer> {
    for (const listener of this.#requestListeners) listener(request);
    const target = targetOf(request.path, this.world);
    const now = this.#clock.now();
    const encoding = headerOf(request, 'accept-encoding') ?? '';
    const fault = this.faults.draw(request);
    const instead = fault && insteadOf(fault, areaOf(request.path), now);
    if (instead && 'kind' in instead) return { status: 0, headers: {}, body: new Uint8Array(), breakage: instead };
    const reply = instead ?? falsify(fault, await this.#answer(request, target));
    const headers = { ...this.#toPages, ...reply.headers };
    return breakUp(fault, encodeReply({ ...reply, headers }, encoding, now));
  }

  /** The vendors of an account as the service has them, and changes to them. */
  vendors(account: string): VendorService {
    return this.#account(account).vendors;
  }

  gateways(account: string): GatewayBook {
    return this.#account(account).gateways;
  }

  callbacks(account: string): CallbackBook {
    return this.#account(account).callbacks;
  }

  /** Emits an event about a resource of any kind, known or not. */
  emit(account: string, event: string, objectId: number): void {
    this.#account(account).announce(event, objectId);
  }

  /** Every attempt to deliver something, oldest first. */
  deliveries(): readonly Attempt[] {
    return this.#sender.log;
  }

  /** Called when an attempt has ended. Returns how to stop listening, as the other listeners do. */
  onDelivery(listener: (attempt: Attempt) => void): () => void {
    return this.#sender.onAttempt(listener);
  }

  /** Called for each request before it is answered; the listener may change vendors first. */
  onRequest(listener: (request: SandboxRequest) => void): () => void {
    this.#requestListeners.add(listener);
    return () => this.#requestListeners.delete(listener);
  }

  onChange(listener: (change: VendorChange) => void): () => void {
    this.#changeListeners.add(listener);
    return () => this.#changeListeners.delete(listener);
  }

  /** Called for each event, whether there is a callback for it or not. */
  onEvent(listener: (event: AccountEvent) => void): () => void {
    this.#eventListeners.add(listener);
    return () => this.#eventListeners.delete(listener);
  }

  stop(): void {
    this.#stopped.abort(new Error('The sandbox stops.'));
    this.#sender.close();
  }

  async #answer(request: SandboxRequest, target: Target | undefined): Promise<Reply> {
    if (request.method === 'OPTIONS') {
      const methods = target ? allowedMethods(target, this.world) : otherMethods[request.path];
      if (methods) return preflight(methods);
    }
    if (request.path === tokenPath)
      return answerToken(request, this.access, this.#terms, this.#clock.now(), this.#random);
    if (request.path === revokePath) return answerRevoke(request, this.access, this.#terms);
    if (request.path === authorizePath)
      return answerAuthorize(request, this.access, this.#terms, this.#clock.now(), this.#random);
    if (isManualPath(request.path))
      return this.#granted('accounting', request, () =>
        answerManual(request, (id) => this.#accounts.get(id), this.#sender.log),
      );
    if (request.path === identityPath)
      return this.#granted('auth', request, (grant) =>
        answerIdentity(request.method, grant, [...this.#accounts.keys()], this.world),
      );
    if (!target) return refusalReply(nothingThere(), areaOf(request.path), this.world);
    const token = headerOf(request, 'authorization');
    const now = this.#clock.now();
    const grant = this.access.of(token, now);
    if (!grant) return unauthenticated(target.area);
    const account = this.#accounts.get(target.account);
    const metered = account && this.#meters?.count({ ...target, token: token ?? '', method: request.method }, now);
    const reply =
      metered?.allowed === false ? tooMany(target.area) : await this.#reply(request, target, account, grant);
    return { ...reply, headers: Object.assign({}, metered?.headers, reply.headers) };
  }

  /** Answers whoever has a valid token, at a path that belongs to no account. */
  #granted(area: Area, request: SandboxRequest, answer: (grant: Grant) => Reply): Reply | Promise<Reply> {
    const grant = this.access.of(headerOf(request, 'authorization'), this.#clock.now());
    return grant ? this.#unlessRefused(area, () => answer(grant)) : unauthenticated('accounting');
  }

  #reply(request: SandboxRequest, target: Target, account: Account | undefined, grant: Grant): Promise<Reply> {
    const { world } = this;
    return this.#unlessRefused(target.area, () => {
      requireAccount(grant, target.account, account !== undefined);
      requireApiVersion(request, target, world);
      const call = { request, target, account: this.#account(target.account), grant, world, random: this.#random };
      const endpoints = { vendors: answerVendors, gateways: answerGateways, callbacks: answerCallbacks };
      return refusedOptional(call) ?? endpoints[target.resource](call);
    });
  }

  /** The answer, or what says in the form of an area why there is none. */
  async #unlessRefused(area: Area, answer: () => Reply | Promise<Reply>): Promise<Reply> {
    try {
      return await answer();
    } catch (error) {
      if (error instanceof Refusal) return refusalReply(error, area, this.world);
      throw error;
    }
  }

  #account(id: string): Account {
    const account = this.#accounts.get(id);
    if (!account) throw new RangeError(`The sandbox has no account ${id}.`);
    return account;
  }
}

/** What is allowed at paths that belong to no account. */
const otherMethods: Readonly<Record<string, readonly string[]>> = {
  [tokenPath]: ['POST'],
  [revokePath]: ['POST'],
  [identityPath]: ['GET'],
};

function requireApiVersion(request: SandboxRequest, { resource }: Target, world: World): void {
  if (world.apiVersion === 'optional' || resource === 'vendors' || headerOf(request, 'api-version') === 'alpha') return;
  throw new Refusal({ status: 400, errno: 1004, message: 'The header Api-Version must be alpha.' });
}
