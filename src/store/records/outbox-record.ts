/** What waits to be sent to a target of outgoing webhooks. */

/** A vendor, to one target. */
export interface NotifiedVendor {
  readonly target: string;
  readonly account_id: string;
  readonly vendorid: number;
}

export interface DueVendor extends NotifiedVendor {
  /** The last change of it that the target has received, or does not need. */
  readonly after_seq: number;
  /** Attempts that failed in a row. */
  readonly attempts: number;
}

/** A message that is no change, as it will be sent. */
export interface PendingNotice {
  readonly id: string;
  readonly body: string;
}

/** What a target has to do. */
export interface PendingWork {
  /** Goes out before everything else. */
  readonly notice: PendingNotice | undefined;
  readonly due: readonly DueVendor[];
  /** Milliseconds until the next vendor is due; undefined where none waits. */
  readonly untilNext: number | undefined;
}
