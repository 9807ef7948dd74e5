/** Who writes to the service, and how sure they are. */

export interface WriteOptions {
  readonly signal: AbortSignal;
  /** Without a look at what became of an earlier one that is open: a person knows better. */
  readonly again: boolean;
  /** The person's name on the machine, where it is known. */
  readonly by: string | null;
}

/** When an earlier write was sent, and by whom, in words. */
export function describeSent({ sentAt, sentBy }: { readonly sentAt: string; readonly sentBy: string | null }): string {
  return `at ${sentAt} UTC${sentBy === null ? '' : ` by ${sentBy}`}`;
}
