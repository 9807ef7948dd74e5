/** Options of writes to the service. */
import type { WriteReport } from './answer.ts';

export interface WriteOptions {
  readonly signal: AbortSignal;
  /** Sends without checking the outcome of an earlier open write. */
  readonly again: boolean;
  /** The user's name on this machine, where known. */
  readonly by: string | null;
  /**
   * Called with the report before the write is closed. If the process dies in between, whoever asked may not have been told: the write
   * stays open, and the next command looks before it sends.
   */
  readonly tell: (report: WriteReport) => Promise<void> | void;
}

/** When an earlier write was sent, and by whom, as text. */
export function describeSent({ sentAt, sentBy }: { readonly sentAt: string; readonly sentBy: string | null }): string {
  return `at ${sentAt} UTC${sentBy === null ? '' : ` by ${sentBy}`}`;
}
