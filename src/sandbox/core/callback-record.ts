/** A registered callback as the sandbox keeps it. */

export interface CallbackRecord {
  readonly id: number;
  readonly event: string;
  readonly uri: string;
  readonly verified: boolean;
  /** Disabled by the service after a long time of failures only. */
  readonly disabled: boolean;
  /** The code sent last: the secret of signatures. */
  readonly verifier: string;
  /** Milliseconds since 1970. */
  readonly updated: number;
}
