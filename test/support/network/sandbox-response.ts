/** An answer of the sandbox as the program's fetch would hand it over, its breakage included; no sockets, no streams. */
import type { Answer } from '../../../src/sandbox/core/reply.ts';

type Breakage = NonNullable<Answer['breakage']>;

/** What the client looks at of a Response; `text` is for tests that change answers. */
export function responseOf(answer: Answer, signal: AbortSignal): Response {
  const { status, breakage } = answer;
  const empty = answer.body.length === 0 || status === 204;
  return {
    status,
    type: 'default',
    headers: new Headers(answer.headers),
    body: empty ? null : bodyOf(answer.body, breakage, signal),
    text: () => Promise.resolve(Buffer.from(answer.body).toString()),
  } as unknown as Response;
}

export function connectionReset(): TypeError {
  return new TypeError('fetch failed', {
    cause: Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }),
  });
}

/** Never answers; ends only with the signal. */
export function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    else signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}

async function* bodyOf(
  bytes: Uint8Array,
  breakage: Breakage | undefined,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  if (breakage === undefined || !('after' in breakage)) {
    yield bytes;
    return;
  }
  yield bytes.slice(0, breakage.after);
  if (breakage.kind === 'truncate')
    throw new TypeError('terminated', {
      cause: Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }),
    });
  await aborted(signal);
}
