/** One account of the service: its vendors, gateways and callbacks, and its events. */
import type { Clock } from '../../domain/clock.ts';
import { accountMemory, type AccountMemory, type GatewayRecord, type Memory } from '../core/memory.ts';
import { seededRandom, seedOf, type SeededRandom } from '../core/random.ts';
import type { Wire } from '../core/vendor-record.ts';
import type { World } from '../core/worlds.ts';
import { CallbackBook } from '../delivery/callback-book.ts';
import type { DeliverySender } from '../delivery/delivery-sender.ts';
import { EventDispatcher, verificationDelivery, type DeliveryPlan, type Sender } from '../delivery/event-dispatcher.ts';
import { olderInLists, VendorService, type OnChange } from '../vendors/vendor-service.ts';

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
  /** The `per_page` of the first list that was asked for, where only that is honoured. */
  firstSize: string | null | undefined;
  readonly #dispatcher: EventDispatcher;
  readonly #sender: Sender;
  readonly #dependencies: AccountDependencies;

  constructor(id: string, dependencies: AccountDependencies) {
    const { world, clock, sender } = dependencies;
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
    this.callbacks = new CallbackBook(fresh('callbacks'), id, memory, world.code);
    this.gateways = new GatewayBook(random('gateways'), id, memory);
    this.#dispatcher = new EventDispatcher(
      this.#sender,
      this.callbacks,
      sender,
      dependencies.plan,
      fresh('deliveries'),
      world,
    );
    const past = Math.max(world.listLag * 1_000, world.readLag * 1_000, world.listedAs === 'older' ? olderInLists : 0);
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

/** The payment gateways enabled for an account. */
export class GatewayBook {
  readonly #gateways = new Map<number, GatewayRecord>();
  readonly #removed = new Map<number, GatewayRecord>();

  readonly #account: string;
  #memory: AccountMemory;

  /** Begins with a card processor and the service's own. */
  constructor(random: SeededRandom, account: string, memory: AccountMemory) {
    this.#account = account;
    this.#memory = { entries: [], write: () => undefined };
    for (const name of ['stripe', 'servicepay'])
      this.enable({
        sgid: 1_000_000 + random.below(900_000),
        connectionid: random.text(32, '0123456789abcdef'),
        gateway_name: name,
      });
    for (const entry of memory.entries) {
      if (entry.kind !== 'gateway') continue;
      if (entry.value) this.enable(entry.value);
      else this.remove(entry.key);
    }
    this.#memory = memory;
  }

  /** As the list shows them. */
  all(): Wire[] {
    return [...this.#gateways.values()].map((gateway) => ({ ...gateway, id: gateway.sgid }));
  }

  /** Only the service's own interface can do this. */
  enable(gateway: GatewayRecord): void {
    this.#removed.delete(gateway.sgid);
    this.#gateways.set(gateway.sgid, gateway);
    this.#memory.write({ kind: 'gateway', account: this.#account, key: gateway.sgid, value: gateway });
  }

  /** Enables a removed gateway again, any one by default; undefined if there is none. */
  enableAgain(sgid?: number): GatewayRecord | undefined {
    const gateway = sgid === undefined ? this.#removed.values().next().value : this.#removed.get(sgid);
    if (gateway) this.enable(gateway);
    return gateway;
  }

  /** False if there is none. */
  remove(sgid: number): boolean {
    const gateway = this.#gateways.get(sgid);
    if (!gateway) return false;
    this.#gateways.delete(sgid);
    this.#removed.set(sgid, gateway);
    this.#memory.write({ kind: 'gateway', account: this.#account, key: sgid, value: null });
    return true;
  }
}
