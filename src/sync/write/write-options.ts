/** Options of writes to the service. */

export interface WriteOptions {
  readonly signal: AbortSignal;
  /** Sends without checking the outcome of an earlier open write. */
  readonly again: boolean;
  /** The user's name on this machine, where known. */
  readonly by: string | null;
}

/** When an earlier write was sent, and by whom, as text. */
export function describeSent({ sentAt, sentBy }: { readonly sentAt: string; readonly sentBy: string | null }): string {
  return `at ${sentAt} UTC${sentBy === null ? '' : ` by ${sentBy}`}`;
}
