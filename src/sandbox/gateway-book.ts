/** The payment gateways enabled for an account (reference 2.3, 3.3). */
import type { Chance } from './chance.ts';
import type { Wire } from './vendor-record.ts';

export interface GatewayRecord {
  readonly sgid: number;
  readonly connectionid: string;
  readonly gateway_name: string;
}

export class GatewayBook {
  readonly #gateways = new Map<number, GatewayRecord>();

  /** Begins with a card processor and the service's own. */
  constructor(throws: Chance) {
    for (const name of ['stripe', 'servicepay'])
      this.enable({
        sgid: 1_000_000 + throws.below(900_000),
        connectionid: throws.text(32, '0123456789abcdef'),
        gateway_name: name,
      });
  }

  /** As the list shows them. */
  all(): Wire[] {
    return [...this.#gateways.values()].map((gateway) => ({ ...gateway, id: gateway.sgid }));
  }

  /** What only the service's own interface can do. */
  enable(gateway: GatewayRecord): void {
    this.#gateways.set(gateway.sgid, gateway);
  }

  /** False if there is none. */
  remove(sgid: number): boolean {
    return this.#gateways.delete(sgid);
  }
}
