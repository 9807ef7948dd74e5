/** The payment gateways enabled for an account. */
import type { SeededRandom } from '../core/random.ts';
import type { GatewayRecord } from '../core/gateway-record.ts';
import type { AccountMemory } from '../core/memory.ts';
import type { Wire } from '../core/vendor-record.ts';

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
