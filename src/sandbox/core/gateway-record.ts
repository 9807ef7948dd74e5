/** A payment gateway as the sandbox keeps it. */

export interface GatewayRecord {
  readonly sgid: number;
  readonly connectionid: string;
  readonly gateway_name: string;
}
