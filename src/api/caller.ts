/**
 * Sends calls: renews a refused token, and retries where that may help and cannot do something twice.
 *
 * A creation is repeated only after 429, after 503 with `Retry-After`, or if no connection was made; otherwise the error says that the
 * vendor may have been created.
 */
import { parseInstant, type Clock, type Random } from '../domain/clock.ts';
import { unlessAborted } from '../domain/concurrency.ts';
import { inWords } from '../domain/duration.ts';
import { MirrorError, withMessage, withRemedy, type ErrorCode } from '../domain/errors.ts';
import type { Log } from '../domain/log.ts';
import { redacted, type Secret } from '../domain/secret.ts';
import { isDeclined, type OptionalMemory } from '../domain/optional-requests.ts';
import type { ReadStamp, Reservation, ReserveRequest } from '../domain/reading.ts';
import { defaultRetryLimits, type RetryLimits } from '../domain/retry.ts';
import type { ServiceTime } from '../domain/service-time.ts';
import type { ServiceSettings } from '../settings/parse.ts';
import type { TokenSource } from './auth/token-sources.ts';
import type { ConnectionRate, LimitedWindow, Place, Priority } from './http/rate-limiter.ts';
import { isDecoded } from './http/node-fetch.ts';
import { exchange, neverArrived, type Answer, type Exchange, type Fetch } from './http/request.ts';
import { retried, retryAfter, untilReset } from './http/retry.ts';
import { parseDocument, presentable, refusal, type Answered } from './wire/document.ts';

export type Family = 'vendors' | 'gateways' | 'callbacks';

/** One attempt after it ended, for metrics. `status` is 'error' where no answer came. */
export interface AttemptFacts {
  readonly family: Family;
  readonly method: string;
  readonly status: number | 'error';
  readonly ms: number;
}

export interface ApiDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly fetch: Fetch;
  readonly log: Log;
  readonly reserveRequest: ReserveRequest;
  readonly tokens: TokenSource;
  /** The rate that the account shares with all others of its connection, which may change. */
  readonly rate: () => ConnectionRate;
  /** Remembers what the service does not honour; default: nothing is remembered. */
  readonly optionalMemory?: OptionalMemory;
  /** Awaited after each successful answer, before its data is used. @throws MirrorError where it must not be used. */
  readonly onAnswer?: (accountId: string) => Promise<void>;
  /** Called for each failed attempt that may succeed later. */
  readonly onFailure?: (accountId: string, error: MirrorError) => void;
  /** Called for each attempt that was sent. */
  readonly observe?: (facts: AttemptFacts) => void;
  /** Learns from each answer whether the clocks agree. */
  readonly serviceTime?: Pick<ServiceTime, 'observe'>;
  readonly retryLimits?: RetryLimits;
}

export type ApiSettings = Pick<ServiceSettings, 'apiVersion' | 'paging' | 'timeout'> & {
  readonly baseUrl: string;
  /** How old the copies may be that the service answers from, in milliseconds. */
  readonly lag: number;
  /** Vendor fields to remove from every answer. */
  readonly exclude?: readonly string[];
};

export interface Call {
  readonly family: Family;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path below the base URL, with its leading slash and each part encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Not sent again where it may have been carried out: a repetition could undo what others did since. POSTs never are. */
  readonly once?: boolean;
  /** `prompt` (the default) where someone waits for it; a part of the rate is reserved for those. */
  readonly priority?: Priority;
  /** Instead of the default ones. */
  readonly retryLimits?: RetryLimits | undefined;
  /** A secret that the answer might repeat, to be removed from messages. */
  readonly secret?: Secret;
  readonly signal?: AbortSignal | undefined;
  /** What to do where the path leads nowhere, or to something other than the service. */
  readonly remedyElsewhere?: string;
  /** The largest answer, in decoded bytes, where it may be larger than usual. */
  readonly maxAnswer?: number;
  /** Called with the number of each attempt, which an answer without a record would not tell. */
  readonly onStamp?: ((stamp: ReadStamp) => void) | undefined;
}

/**
 * Sends a call and reads its successful answer with `read`, within the same attempt: an unreadable answer is retried, unless the call goes
 * `once`. A repeated removal that finds nothing counts as success; `read` gets no bytes then.
 * @throws MirrorError of requests, answers and tokens, with `mayBeDone` where a call that goes once may have been carried out; the reason
 * of the call's signal when it is aborted.
 */
export type Caller = <T>(call: Call, read: (answered: Answered) => T) => Promise<T>;

export function caller(accountId: string, service: ApiSettings, dependencies: ApiDependencies): Caller {
  return async (call, read) => {
    let wasSent = false;
    let renewed = false;

    const attempt = async (number: number): Promise<ReturnType<typeof read>> => {
      const send = (token: Secret): Promise<ReturnType<typeof read>> =>
        sendOnce(
          { accountId, call, token, service, dependencies, again: number > 1, onSend: () => (wasSent = true) },
          read,
        );
      wasSent = false;
      const token = await unlessAborted(dependencies.tokens.current(), call.signal);
      try {
        return await send(token);
      } catch (error) {
        if (renewed || !isMirrorError(error, 'unauthenticated')) throw error;
        renewed = true;
        const fresh = await unlessAborted(dependencies.tokens.renew(token), call.signal);
        if (!fresh) throw dependencies.tokens.refused?.(error) ?? error;
        return await send(fresh);
      }
    };

    const isOnce = call.method === 'POST' || call.once === true;
    let isAnswered = false;
    const mayBeDone = (error: MirrorError): boolean => isOnce && (isAnswered || (wasSent && mayHaveArrived(error)));

    const retryLimits = dependencies.retryLimits ?? call.retryLimits ?? defaultRetryLimits;
    try {
      const answered = await retried(attempt, {
        clock: dependencies.clock,
        random: dependencies.random,
        retryLimits,
        signal: call.signal,
        mayRetry: (error, attempts) =>
          error.retry &&
          !mayBeDone(error) &&
          !(retryLimits.oneTimeout && error.code === 'service_timeout') &&
          !(attempts >= (retryLimits.untilDeclined ?? Infinity) && isDeclined(error)),
        onWait(error, wait) {
          const { code, message, retryAfter } = error;
          dependencies.onFailure?.(accountId, error);
          const facts = { account: accountId, code, wait: Math.round(wait), method: call.method, family: call.family };
          // A long wait is logged as a warning, so that a person at a terminal knows the reason.
          if (retryAfter !== undefined && wait >= noticeable)
            dependencies.log.warn(facts, `the service asks for a wait of ${Math.round(wait / 1_000)} s: ${message}`);
          else dependencies.log.debug(facts, message);
        },
      });
      isAnswered = true;
      await dependencies.onAnswer?.(accountId);
      return answered;
    } catch (error) {
      if (isMirrorError(error) && error.retry && !call.signal?.aborted) dependencies.onFailure?.(accountId, error);
      throw isMirrorError(error) && mayBeDone(error) ? withDoubt(error) : error;
    }
  };
}

function isMirrorError(error: unknown, code?: MirrorError['code']): error is MirrorError {
  return error instanceof MirrorError && (code === undefined || error.code === code);
}

/** Waits of at least this are logged as warnings, in milliseconds. */
const noticeable = 2_000;

/** Failures after which the request may have been carried out. */
const openOutcomes: ReadonlySet<ErrorCode> = new Set([
  'service_unreachable',
  'service_timeout',
  'service_unavailable',
  'answer_unreadable',
  'answer_too_large',
  'row_unusable',
  'interrupted',
]);

function mayHaveArrived(error: MirrorError): boolean {
  if (!openOutcomes.has(error.code)) return false;
  const turnedAway = error.status === 503 && error.retryAfter !== undefined;
  return !turnedAway && !neverArrived(error);
}

function withDoubt(error: MirrorError): MirrorError {
  const { code, status, errno, cause } = error;
  const message = `${error.message} It may have been carried out nevertheless.`;
  return new MirrorError(code, message, { status, errno, mayBeDone: true, cause });
}

/** One attempt of a call: rate limits, stamp, request and answer. */
export interface Attempt {
  readonly accountId: string;
  readonly call: Call;
  readonly token: Secret;
  readonly service: ApiSettings;
  readonly dependencies: ApiDependencies;
  /** Whether this is a repetition: a removal that finds nothing then succeeded before. */
  readonly again: boolean;
  /** Called when the request is sent: from then on it may reach the service. */
  readonly onSend: () => void;
}

/** Sends the call once and reads its answer. @throws MirrorError whose message contains neither the token nor the call's secret. */
export async function sendOnce<T>(attempt: Attempt, read: (answered: Answered) => T): Promise<T> {
  const { call, dependencies, token } = attempt;
  const rate = dependencies.rate();
  const windows = rate.windowsOf(call);
  try {
    const { reserved, leave } = await placeIn(windows, rate, attempt);
    let answer: Answer;
    // An aborted request may still reach the service.
    let late = attempt.service.timeout;
    try {
      call.onStamp?.(reserved.stamp);
      answer = await send(attempt);
      late = 0;
    } finally {
      reserved.end(late);
      leave();
    }
    const pause = slowDown(answer, windows, dependencies.clock);
    if (pause >= noticeable && rate.isToTell(dependencies.clock.monotonic()))
      dependencies.log.warn(
        { account: attempt.accountId, wait: Math.round(pause) },
        `waiting for ${inWords(pause)}: the service says that its limit is used up, maybe by other programs with this access`,
      );
    refuseOldCopy(answer, attempt);
    const removed = call.method === 'DELETE' && attempt.again && answer.status === 404;
    const bytes = removed ? new Uint8Array() : accepted(answer, dependencies.clock);
    return read({ bytes, stamp: reserved.stamp, servedAt: servedAt(answer) });
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    const { remedyElsewhere } = call;
    const isElsewhere = elsewhere.has(error.code) && error.remedy === undefined;
    const told = remedyElsewhere !== undefined && isElsewhere ? withRemedy(error, remedyElsewhere) : error;
    throw withoutSecrets(told, [token, call.secret]);
  }
}

/** What a path is answered with that leads nowhere, or to something other than the service. */
const elsewhere: ReadonlySet<ErrorCode> = new Set(['not_found', 'not_supported', 'answer_unreadable']);

/**
 * Waits for a place in each window: in its turn among the requests of this process, and then in the rate that all processes share. Where that
 * is used up, the request takes its turn again.
 */
async function placeIn(windows: readonly LimitedWindow[], rate: ConnectionRate, attempt: Attempt): Promise<Placed> {
  const { accountId, call, dependencies, service } = attempt;
  const { priority = 'prompt', signal } = call;
  const { clock, log } = dependencies;
  // One timeout to the headers, and one to the end of the body.
  const demand = { connection: rate.connection, longest: 2 * service.timeout };
  const since = clock.monotonic();
  for (;;) {
    const places: (LimitedWindow & { readonly place: Place })[] = [];
    const leave = (how?: { readonly unsent: boolean }): void => {
      for (const { limiter, place } of places) limiter.leave(place, how);
    };
    let isReserved = false;
    try {
      for (const { window, limiter } of windows)
        places.push({ window, limiter, place: await limiter.enter({ account: accountId, priority }, signal, since) });
      const bounds = places.map(({ window, limiter, place }) => ({
        window,
        requests: place.limit,
        per: limiter.rate.per,
      }));
      const isPrompt = places.some(({ place }) => place.priority === 'prompt');
      const answer = await dependencies.reserveRequest({ ...demand, bounds, isPrompt });
      if ('stamp' in answer) {
        isReserved = true;
        return { reserved: answer, leave };
      }
      const full = places.find(({ window }) => window === answer.window);
      full?.limiter.pause(answer.wait, full.place.priority);
      if (clock.monotonic() - since >= noticeable && rate.isToTell(clock.monotonic()))
        log.warn({ account: accountId }, sharedRateUsed);
    } finally {
      if (!isReserved) leave({ unsent: true });
    }
  }
}

/** A place in the rate of all processes, and those among the requests of this one, which `leave` gives back. */
interface Placed {
  readonly reserved: Reservation;
  readonly leave: () => void;
}

const sharedRateUsed =
  'waiting for the rate limit, which other processes of this mirror use too: a daemon, or commands of the last minute';

async function send(attempt: Attempt): Promise<Answer> {
  const { call, dependencies, service } = attempt;
  const { clock } = dependencies;
  const begun = clock.monotonic();
  const sentAt = clock.now();
  let status: number | 'error' = 'error';
  try {
    attempt.onSend();
    const answer = await exchange(exchangeOf(attempt), { ...dependencies, timeout: service.timeout });
    status = answer.status;
    // The `Date` of a cache's copy should be of when the copy was made. An old copy, which is refused, may have the cache's own.
    const age = ageOf(answer) ?? 0;
    const dated = servedAt(answer);
    if (age <= service.lag)
      dependencies.serviceTime?.observe({
        ...{ sentAt, answeredAt: clock.now() },
        servedAt: dated === undefined ? undefined : dated + age,
      });
    return answer;
  } finally {
    const ms = clock.monotonic() - begun;
    const { family, method, path } = call;
    dependencies.observe?.({ family, method, status, ms });
    const facts = { account: attempt.accountId, method, path, ...countsOf(call), status, ms: Math.round(ms) };
    dependencies.log.debug(facts, 'a request ended');
  }
}

/** The numbers of a query, such as that of the page: other values may be names of vendors. */
function countsOf({ query = {} }: Call): { readonly query?: Readonly<Record<string, string>> } {
  const counts = Object.entries(query).filter(([, value]) => /^\d{1,9}$/.test(value));
  return counts.length === 0 ? {} : { query: Object.fromEntries(counts) };
}

/** The moment that the service put on its answer, in milliseconds since 1970; undefined where it has none. */
function servedAt({ headers }: Answer): number | undefined {
  return parseInstant(headers.get('date') ?? '');
}

/** How old the copy is that a cache answered with, in milliseconds; undefined where the answer does not say that it is one. */
function ageOf({ headers }: Answer): number | undefined {
  const seconds = /^\d{1,10}$/.exec(headers.get('age')?.trim() ?? '')?.[0];
  return seconds === undefined ? undefined : Number(seconds) * 1_000;
}

/** A copy that is older than the service may lag would be taken for what is so now. */
function refuseOldCopy(answer: Answer, { call, service }: Attempt): void {
  const age = ageOf(answer);
  if (call.method !== 'GET' || age === undefined || age <= service.lag || answer.status >= 300) return;
  throw new MirrorError('answer_unreadable', `The answer is the copy of a cache, ${inWords(age)} old.`, {
    status: answer.status,
    remedy: 'A proxy or CDN before the service keeps answers: let whoever runs it pass these requests on.',
  });
}

function exchangeOf({ call, service, token }: Attempt): Exchange {
  return {
    url: addressOf(call, service.baseUrl),
    method: call.method,
    headers: {
      accept: 'application/json',
      authorization: `Bearer ${token.reveal()}`,
      // A cache on the way asks the service anew.
      ...(call.method === 'GET' && { 'cache-control': 'no-cache' }),
      ...(service.apiVersion !== null && { 'api-version': service.apiVersion }),
      ...(call.body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(call.body !== undefined && { body: JSON.stringify(call.body) }),
    maxAnswer: call.maxAnswer,
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
  const encoding = headers.get('content-encoding')?.trim().toLowerCase() ?? '';
  if (bytes.length > 0 && !isDecoded(encoding))
    throw new MirrorError(
      'answer_unreadable',
      `The answer is compressed as ${presentable(encoding)}, which was not asked for.`,
      {
        status,
        remedy:
          'A proxy or CDN before the service compresses its answers: let whoever runs it do so as requests allow (gzip, br).',
      },
    );
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

/**
 * When the service reports that a limit is used up, maybe by other programs of the same person, all requests of the narrowest window wait.
 * `Retry-After` stands on every answer, and counts only where the service refused.
 * @returns for how long they wait, in milliseconds; 0 where the service refused, and the repetition of this request says so.
 */
function slowDown({ status, headers }: Answer, windows: readonly LimitedWindow[], clock: Clock): number {
  if (headers.get('x-ratelimit-remaining')?.trim() !== '0') return 0;
  const now = clock.now();
  const isRefused = status === 429 || status === 503;
  const wait = (isRefused ? retryAfter(headers, now) : undefined) ?? untilReset(headers, now);
  const paused = windows[0]?.limiter.pause(wait ?? (isRefused ? Infinity : 0)) ?? 0;
  return isRefused ? 0 : paused;
}

function withoutSecrets(error: MirrorError, secrets: readonly (Secret | undefined)[]): MirrorError {
  const message = redacted(error.message, secrets);
  return message === error.message ? error : withMessage(error, message);
}

/** The URL of a call, always at the origin and below the path of the base URL, because it receives the token. */
export function addressOf(call: Pick<Call, 'path' | 'query'>, baseUrl: string): URL {
  const base = new URL(baseUrl);
  const path = base.pathname.replace(/\/+$/, '') + call.path;
  const url = new URL(path, base.origin);
  if (url.origin !== base.origin || url.pathname !== path)
    throw new MirrorError('bug', `A request was about to be sent to an address outside ${base.origin}.`);
  url.search = new URLSearchParams(call.query).toString();
  return url;
}
