/** Callbacks as commands show them. */
import type { Callback } from '../../domain/vendor.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { table } from '../terminal/table.ts';

export interface ShownCallback extends Callback {
  /** Whether this installation registered it. */
  readonly own: boolean;
}

/** The callback without the secret at the end of its address, with which anybody could send to the listener. */
export function shownCallback({ callbackid, event, uri, verified }: Callback, own: boolean): ShownCallback {
  return { callbackid, event, uri: uri.replace(/(\/webhooks\/[^/?#]+\/)[^/?#]+/, '$1…'), verified, own };
}

export function callbackTable(context: ProcessContext, callbacks: readonly ShownCallback[]): Promise<string> {
  return table(
    context,
    [
      { title: 'callbackid', right: true, cell: ({ callbackid }) => callbackid },
      { title: 'event', cell: ({ event }) => event },
      { title: 'verified', cell: ({ verified }) => (verified ? 'yes' : 'no') },
      { title: 'own', dropOrder: 1, cell: ({ own }) => (own ? 'yes' : 'no') },
      { title: 'uri', dropOrder: 2, cell: ({ uri }) => uri },
    ],
    callbacks,
  );
}
