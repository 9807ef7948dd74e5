/** One HTTP exchange, limited in time and size, without redirects and without logging. Every request to the service goes through here. */
import type { Clock } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import { networkCode, unreachable } from './network-errors.ts';

/** The part of `fetch` that is used. */
export type Fetch = (url: URL, request: FetchRequest) => Promise<FetchedAnswer>;

export interface FetchRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly redirect: 'manual';
  readonly signal: AbortSignal;
}

export interface FetchedAnswer {
  readonly status: number;
  readonly headers: Pick<Headers, 'get'>;
  /** Decoded. */
  readonly body: AsyncIterable<Uint8Array> | null;
}

/** The largest answer, in decoded bytes. */
const largestBody = 8 * 1024 * 1024;

export interface Exchange {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
}

export interface ExchangeDependencies {
  readonly fetch: Fetch;
  readonly clock: Clock;
  /** Time limit to the headers, and again to the end of the body, in milliseconds. */
  readonly timeout: number;
}

/** An answer of any status, with its body decompressed (gzip, brotli) but not parsed. */
export interface Answer {
  readonly status: number;
  readonly headers: Pick<Headers, 'get'>;
  readonly bytes: Uint8Array;
}

/**
 * Sends one request and reads its complete answer.
 * @throws MirrorError `service_unreachable`, `service_timeout`, `redirected`, `answer_too_large`, or `answer_unreadable` where the body
 * breaks off; the reason of `signal`, unchanged, when it is aborted.
 */
export async function exchange(request: Exchange, dependencies: ExchangeDependencies): Promise<Answer> {
  const { url, signal } = request;
  signal?.throwIfAborted();
  const stopper = new AbortController();
  const onAbort = (): void => stopper.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  const deadline = (what: string): (() => void) =>
    dependencies.clock.timer(dependencies.timeout, () => stopper.abort(tooSlow(url.host, what, dependencies.timeout)));
  const stopped = rejectedOnAbort(stopper.signal);
  let disarm = deadline('did not answer');
  try {
    const answered = dependencies.fetch(url, {
      method: request.method,
      headers: { ...request.headers },
      ...(request.body !== undefined && { body: request.body }),
      redirect: 'manual',
      signal: stopper.signal,
    });
    const response = await Promise.race([answered, stopped]);
    disarm();
    refuseRedirect(url, response);
    disarm = deadline('began its answer but did not finish it');
    return {
      status: response.status,
      headers: response.headers,
      bytes: await Promise.race([bodyOf(response, url.host), stopped]),
    };
  } catch (error) {
    if (stopper.signal.aborted) throw stopper.signal.reason;
    stopper.abort();
    throw error instanceof MirrorError ? error : unreachable(url.host, error);
  } finally {
    disarm();
    signal?.removeEventListener('abort', onAbort);
  }
}

/** Rejects when the signal is aborted, whatever the network does: a read may never settle after a damaged body. */
function rejectedOnAbort(signal: AbortSignal): Promise<never> {
  const rejected = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  rejected.catch(() => undefined);
  return rejected;
}

function tooSlow(host: string, what: string, timeout: number): MirrorError {
  return new MirrorError('service_timeout', `${host} ${what} within ${timeout / 1_000} s.`);
}

/** Redirects are not followed: they would send the token to another address. */
function refuseRedirect(request: URL, response: FetchedAnswer): void {
  if (response.status < 300 || response.status > 399) return;
  const location = response.headers.get('location') ?? '';
  const target = URL.canParse(location, request.href) ? ` to ${new URL(location, request).origin}` : '';
  throw new MirrorError('redirected', `${request.host} answered with a redirect${target}, which was not followed.`, {
    status: response.status,
  });
}

async function bodyOf({ body }: FetchedAnswer, host: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body ?? []) {
      size += chunk.byteLength;
      if (size > largestBody) throw tooLarge(host);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof MirrorError) throw error;
    const code = networkCode(error);
    throw new MirrorError(
      'answer_unreadable',
      `The answer of ${host} broke off after ${size} bytes${code && ` (${code})`}.`,
    );
  }
  const [first] = chunks;
  return chunks.length === 1 && first ? first : Buffer.concat(chunks, size);
}

function tooLarge(host: string): MirrorError {
  return new MirrorError(
    'answer_too_large',
    `The answer of ${host} is larger than ${largestBody / 1_048_576} MB, which is more than any page can be.`,
  );
}
