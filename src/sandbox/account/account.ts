/** One account of the service: its vendors, gateways and callbacks, and its events. */
import type { Clock } from '../../domain/clock.ts';
import { EventDispatcher, type DeliveryPlan } from '../delivery/event-dispatcher.ts';
import { CallbackBook } from '../delivery/callback-book.ts';
import { seededRandom, seedOf } from '../core/random.ts';
import { GatewayBook } from './gateway-book.ts';
import { verificationDelivery, type Sender } from '../delivery/outgoing-delivery.ts';
import { accountMemory, type AccountMemory, type Memory } from '../core/memory.ts';
import type { DeliverySender } from '../delivery/delivery-sender.ts';
import { RateMeter, type RateLimits } from '../core/rate-limit.ts';
import { VendorService, type OnChange } from '../vendors/vendor-service.ts';
import type { World } from '../core/worlds.ts';

/** Something that happened, as a delivery would name it. */
export interface AccountEvent extends Sender {
  readonly event: string;
  readonly objectId: number;
}

/** What all accounts of a sandbox have in common. */
export interface AccountDependencies {
  readonly world: World;
  readonly clock: Clock;
  readonly sender: DeliverySender;
  readonly seed: number;
  /** Vendors that a new account begins with. */
  readonly vendors: number;
  /** What an earlier start has kept; without it, nothing is kept. */
  readonly memory: Memory | undefined;
  /** How often the sandbox was started. */
  readonly life: number;
  readonly plan: DeliveryPlan;
  readonly rateLimits: RateLimits | undefined;
  readonly onChange: (account: string, ...change: Parameters<OnChange>) => void;
  readonly onEvent: (event: AccountEvent) => void;
}

/** The number of vendors with which the account was created: another number would change the invented vendors. */
function vendorsAtFirst(account: string, vendors: number, { entries, write }: AccountMemory): number {
  const known = entries.find((entry) => entry.kind === 'account');
  if (known) return known.value;
  write({ kind: 'account', account, value: vendors });
  return vendors;
}

/** Milliseconds after the answer to a registration. */
const verificationDelay = 50;

export class Account {
  readonly id: string;
  readonly clock: Clock;
  readonly vendors: VendorService;
  readonly gateways: GatewayBook;
  readonly callbacks: CallbackBook;
  /** One for vendors and gateways, one for callbacks; none without limits. */
  readonly meters: { readonly accounting: RateMeter; readonly events: RateMeter } | undefined;
  readonly #dispatcher: EventDispatcher;
  readonly #sender: Sender;
  readonly #dependencies: AccountDependencies;

  constructor(id: string, dependencies: AccountDependencies) {
    const { world, clock, sender, rateLimits } = dependencies;
    const seed = seedOf(dependencies.seed, id);
    const random = (what: string) => seededRandom(seedOf(seed, what));
    const fresh = (what: string) =>
      seededRandom(dependencies.life === 1 ? seedOf(seed, what) : seedOf(seed, what, dependencies.life));
    const memory = accountMemory(dependencies.memory, id);
    this.id = id;
    this.clock = clock;
    this.#dependencies = dependencies;
    this.#sender = {
      account: id,
      businessId: 100_000 + random('business').below(900_000),
      identityId: 1_000_000 + random('identity').below(9_000_000),
      userId: 1,
    };
    this.callbacks = new CallbackBook(fresh('callbacks'), id, memory);
    this.gateways = new GatewayBook(random('gateways'), id, memory);
    this.#dispatcher = new EventDispatcher(
      this.#sender,
      this.callbacks,
      sender,
      dependencies.plan,
      fresh('deliveries'),
      world,
    );
    const past = Math.max(world.listLag, world.readLag) * 1_000;
    this.vendors = new VendorService(
      {
        seed,
        records: world.records,
        count: vendorsAtFirst(id, dependencies.vendors, memory),
        unreadable: world.unlistedIds,
        memory: past,
        changed: memory.entries.flatMap((entry) =>
          entry.kind === 'vendor' ? [[entry.key, entry.value] as const] : [],
        ),
        onWrite: (key, value) => memory.write({ kind: 'vendor', account: id, key, value }),
      },
      world,
      clock,
      (event, vendorid) => this.announce(event, vendorid),
      (vendorid, version) => dependencies.onChange(id, vendorid, version),
    );
    this.meters = rateLimits && {
      accounting: new RateMeter(rateLimits.vendors, rateLimits.windowSeconds, world.rateWindow),
      events: new RateMeter(rateLimits.callbacks, rateLimits.windowSeconds, world.rateWindow),
    };
  }

  announce(event: string, objectId: number): void {
    this.#dispatcher.announce(event, objectId);
    this.#dependencies.onEvent({ ...this.#sender, event, objectId });
  }

  /** Sends a callback its code: before this resolves or soon after, as the world says. */
  async sendVerification(callbackId: number): Promise<void> {
    const { sender, world } = this.#dependencies;
    const delivery = verificationDelivery(this.#sender, this.callbacks, callbackId, world);
    if (world.handshakeWhen === 'before') await sender.send(delivery);
    else sender.sendLater(delivery, verificationDelay);
  }
}
