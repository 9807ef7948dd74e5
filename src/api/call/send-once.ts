/** One attempt of a call: rate limits, stamp, request and answer. */
import { parseInstant, sleep, type Clock } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import type { Secret } from '../../domain/log.ts';
import { refusal } from '../wire/error-forms.ts';
import type { Reservation } from '../../domain/rate-reservation.ts';
import { addressOf } from './call-address.ts';
import type { ApiDependencies, ApiSettings, Call } from './call.ts';
import { withMessage } from '../../domain/with-message.ts';
import type { RateLimiter } from '../http/rate-limiter.ts';
import { exchange, type Answer, type Exchange } from '../http/request.ts';
import { retryAfter } from '../http/retry-after.ts';
import { parseDocument, type Answered } from '../wire/document.ts';

export interface Attempt {
  readonly accountId: string;
  readonly call: Call;
  readonly token: Secret;
  readonly service: ApiSettings;
  readonly limiter: RateLimiter;
  readonly dependencies: ApiDependencies;
  /** Whether this is a repetition: a removal that finds nothing then succeeded before. */
  readonly again: boolean;
  /** Called when the request is sent: from then on it may reach the service. */
  readonly onSend: () => void;
}

/** Sends the call once and reads its answer. @throws MirrorError whose message contains neither the token nor the call's secret. */
export async function sendOnce<T>(attempt: Attempt, read: (answered: Answered) => T): Promise<T> {
  const { call, limiter, dependencies, token } = attempt;
  try {
    const { answer, stamp } = await limiter.run(
      async () => {
        const reserved = await reservation(attempt);
        call.onStamp?.(reserved.stamp);
        // An aborted request may still reach the service.
        let late = attempt.service.timeout;
        try {
          const answer = await send(attempt);
          late = 0;
          return { stamp: reserved.stamp, answer };
        } finally {
          reserved.end(late);
        }
      },
      call.priority,
      call.signal,
    );
    slowDown(answer, limiter, dependencies.clock);
    const removed = call.method === 'DELETE' && attempt.again && answer.status === 404;
    const bytes = removed ? new Uint8Array() : accepted(answer, dependencies.clock);
    return read({ bytes, stamp, servedAt: parseInstant(answer.headers.get('date') ?? '') });
  } catch (error) {
    throw error instanceof MirrorError ? withoutSecrets(error, [token, call.secret]) : error;
  }
}

/** Waits for a place in the rate limit that all processes share. */
async function reservation({ accountId, call, limiter, dependencies, service }: Attempt): Promise<Reservation> {
  const demand = {
    accountId,
    family: call.family === 'callbacks' ? 'events' : 'accounting',
    requests: limiter.limitOf(call.priority),
    per: limiter.rate.per,
    // One timeout to the headers, and one to the end of the body.
    longest: 2 * service.timeout,
  } as const;
  for (;;) {
    const reserved = await dependencies.reserveRequest(demand);
    if ('stamp' in reserved) return reserved;
    await sleep(dependencies.clock, reserved.wait, call.signal);
  }
}

async function send(attempt: Attempt): Promise<Answer> {
  const { call, dependencies, service } = attempt;
  const begun = dependencies.clock.monotonic();
  let status: number | 'error' = 'error';
  try {
    attempt.onSend();
    const answer = await exchange(exchangeOf(attempt), { ...dependencies, timeout: service.timeout });
    status = answer.status;
    return answer;
  } finally {
    dependencies.observe?.({
      family: call.family,
      method: call.method,
      status,
      ms: dependencies.clock.monotonic() - begun,
    });
  }
}

function exchangeOf({ call, service, token }: Attempt): Exchange {
  return {
    url: addressOf(call, service.baseUrl),
    method: call.method,
    headers: {
      accept: 'application/json',
      authorization: `Bearer ${token.reveal()}`,
      ...(service.apiVersion !== null && { 'api-version': service.apiVersion }),
      ...(call.body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(call.body !== undefined && { body: JSON.stringify(call.body) }),
    signal: call.signal,
  };
}

/** The body of a successful answer. @throws MirrorError for every other answer. */
function accepted(answer: Answer, clock: Clock): Uint8Array {
  const { status, headers, bytes } = answer;
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? 'an unknown type';
  const isJson = type === 'application/json' || type.endsWith('+json');
  if (status >= 400) {
    const refused = refusal(status, isJson ? documentOrNothing(bytes) : undefined);
    if (refused)
      throw status === 429 || status === 503 ? withRetryAfter(refused, retryAfter(headers, clock.now())) : refused;
  }
  if (bytes.length > 0 && !isJson)
    throw new MirrorError('answer_unreadable', `The service answered with ${type} instead of JSON.`, { status });
  return bytes;
}

function documentOrNothing(bytes: Uint8Array): unknown {
  try {
    return parseDocument(bytes);
  } catch {
    return undefined; // The status alone says enough.
  }
}

function withRetryAfter(error: MirrorError, wait: number | undefined): MirrorError {
  return wait === undefined ? error : withMessage(error, error.message, wait);
}

/** When the service reports that the limit is used up, all calls of the limiter wait. */
function slowDown({ status, headers }: Answer, limiter: RateLimiter, clock: Clock): void {
  if (status === 429 && headers.get('x-ratelimit-remaining') === '0')
    limiter.pause(retryAfter(headers, clock.now()) ?? Infinity);
}

function withoutSecrets(error: MirrorError, secrets: readonly (Secret | undefined)[]): MirrorError {
  const message = secrets.reduce(
    (text, secret) => (secret ? text.replaceAll(secret.reveal(), '[redacted]') : text),
    error.message,
  );
  return message === error.message ? error : withMessage(error, message);
}
