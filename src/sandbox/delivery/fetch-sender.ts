/** How deliveries leave over the network. */
import type { Clock } from '../../domain/clock.ts';
import type { Post } from './delivery-sender.ts';

/** What of the global `fetch` is used. */
export type Fetch = (
  url: URL,
  request: { method: 'POST'; headers: Record<string, string>; body: string; redirect: 'manual'; signal: AbortSignal },
) => Promise<{ readonly status: number }>;

/** Posts with the given fetch; the answer's body is not read. */
export function fetchPost(fetch: Fetch, clock: Clock): Post {
  return async (uri, headers, body, timeoutMs, signal) => {
    const late = new AbortController();
    const cancel = clock.timer(timeoutMs, () => late.abort(new Error('No answer in time.')));
    try {
      const { status } = await fetch(new URL(uri), {
        method: 'POST',
        headers,
        body,
        redirect: 'manual',
        signal: AbortSignal.any([late.signal, signal]),
      });
      return { status };
    } finally {
      cancel();
      late.abort();
    }
  };
}
