/** A payment gateway as the sandbox keeps it (reference 2.3). */

export interface GatewayRecord {
  readonly sgid: number;
  readonly connectionid: string;
  readonly gateway_name: string;
}
