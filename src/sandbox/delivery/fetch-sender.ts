/** How deliveries leave over the network. */
import type { Clock } from '../../domain/clock.ts';
import type { Post } from './delivery-sender.ts';

/** Posts with the given fetch; the answer's body is not read. */
export function fetchPost(fetch: typeof globalThis.fetch, clock: Clock): Post {
  return async (uri, headers, body, timeoutMs, signal) => {
    const late = new AbortController();
    const cancel = clock.timer(timeoutMs, () => late.abort(new Error('No answer in time.')));
    try {
      const answer = await fetch(uri, {
        method: 'POST',
        headers,
        body,
        redirect: 'manual',
        signal: AbortSignal.any([late.signal, signal]),
      });
      await answer.body?.cancel();
      return { status: answer.status };
    } finally {
      cancel();
    }
  };
}
