/** A fetch that reaches a sandbox without sockets, its faults included; time passes by the clock that is given. */
import type { Sandbox } from '../../../src/sandbox/service.ts';

export function directFetch(sandbox: Sandbox): typeof globalThis.fetch {
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const signal = init?.signal ?? undefined;
    signal?.throwIfAborted();
    const answer = await sandbox.handle({
      method: init?.method ?? 'GET',
      path: url.pathname,
      query: url.searchParams,
      headers: Object.fromEntries(new Headers(init?.headers)),
      body: bytesOf(init?.body),
    });
    signal?.throwIfAborted();
    const { breakage } = answer;
    if (breakage?.kind === 'reset') throw networkError('ECONNRESET', 'read ECONNRESET');
    if (breakage?.kind === 'hang') return hung(signal);
    const body = breakage === undefined ? Buffer.from(answer.body) : broken(answer.body, breakage, signal);
    const empty = answer.body.length === 0 || answer.status === 204;
    return new Response(empty ? null : body, { status: answer.status, headers: answer.headers });
  };
}

function bytesOf(body: RequestInit['body']): Uint8Array {
  if (body === null || body === undefined) return new Uint8Array();
  if (typeof body === 'string') return Buffer.from(body);
  if (body instanceof Uint8Array) return body;
  throw new TypeError('Only text and bytes are sent.');
}

function networkError(code: string, message: string): TypeError {
  return new TypeError('fetch failed', { cause: Object.assign(new Error(message), { code }) });
}

function hung(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}

function broken(
  bytes: Uint8Array,
  breakage: { kind: string; after?: number },
  signal: AbortSignal | undefined,
): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytes.slice(0, breakage.after ?? 0));
      if (breakage.kind === 'truncate') controller.error(networkError('ECONNRESET', 'terminated'));
      else signal?.addEventListener('abort', () => controller.error(signal.reason), { once: true });
    },
  });
}
