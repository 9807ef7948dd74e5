/** The types of a call to the service. */
import type { Clock, Random } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import type { Log, Secret } from '../../domain/log.ts';
import type { ReadStamp, ReserveRequest } from '../../domain/reading.ts';
import type { RetryLimits } from '../../domain/retry.ts';
import type { ServiceSettings } from '../../settings/parse.ts';
import type { TokenSource } from '../auth/token-sources.ts';
import type { Priority } from '../http/rate-limiter.ts';
import type { Fetch } from '../http/request.ts';
import type { Answered } from '../wire/document.ts';

/** Groups of paths. Vendors and gateways of an account share one rate limiter, callbacks have their own. */
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
  /** Awaited after each successful answer, before its data is used. @throws MirrorError where it must not be used. */
  readonly onAnswer?: (accountId: string) => Promise<void>;
  /** Called for each failed attempt that may succeed later. */
  readonly onFailure?: (accountId: string, error: MirrorError) => void;
  /** Called for each attempt that was sent. */
  readonly observe?: (facts: AttemptFacts) => void;
  /** Overrides of the default retry limits. */
  readonly retryLimits?: RetryLimits;
}

export type ApiSettings = Pick<ServiceSettings, 'apiVersion' | 'paging' | 'timeout' | 'rateLimit'> & {
  readonly baseUrl: string;
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
  /** A secret that the answer might repeat, to be removed from messages. */
  readonly secret?: Secret;
  readonly signal?: AbortSignal | undefined;
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
