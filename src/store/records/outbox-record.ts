/** Pending messages of targets of outgoing webhooks. */

/** A vendor in the outbox of a target. */
export interface NotifiedVendor {
  readonly target: string;
  readonly account_id: string;
  readonly vendorid: number;
}

export interface DueVendor extends NotifiedVendor {
  /** The `seq` of the last change that the target has received, or does not need. */
  readonly after_seq: number;
  /** Consecutive failed attempts. */
  readonly attempts: number;
}

/** A message that is not about a change, as it will be sent. */
export interface PendingNotice {
  readonly id: string;
  readonly body: string;
}

/** The pending work of a target. */
export interface PendingWork {
  /** Sent before everything else. */
  readonly notice: PendingNotice | undefined;
  readonly due: readonly DueVendor[];
  /** Milliseconds until the next vendor is due; undefined where none waits. */
  readonly untilNext: number | undefined;
}
