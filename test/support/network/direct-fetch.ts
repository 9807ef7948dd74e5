/** A fetch that reaches a sandbox without sockets, its faults included; time passes by the clock that is given. */
import type { Sandbox } from '../../../src/sandbox/service.ts';
import { aborted, connectionReset, responseOf } from './sandbox-response.ts';

export function directFetch(sandbox: Sandbox): typeof globalThis.fetch {
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const signal = init?.signal ?? new AbortController().signal;
    signal.throwIfAborted();
    const answer = await sandbox.handle({
      method: init?.method ?? 'GET',
      path: url.pathname,
      query: url.searchParams,
      headers: Object.fromEntries(new Headers(init?.headers)),
      body: bytesOf(init?.body),
    });
    signal.throwIfAborted();
    if (answer.breakage?.kind === 'reset') throw connectionReset();
    if (answer.breakage?.kind === 'hang') return aborted(signal);
    return responseOf(answer, signal);
  };
}

function bytesOf(body: RequestInit['body']): Uint8Array {
  if (body === null || body === undefined) return new Uint8Array();
  if (typeof body === 'string') return Buffer.from(body);
  if (body instanceof Uint8Array) return body;
  throw new TypeError('Only text and bytes are sent.');
}
