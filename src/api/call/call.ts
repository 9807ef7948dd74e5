/** The words of calling the service: what a call is, and what calling it needs. */
import type { Clock, Random } from '../../domain/clock.ts';
import type { MirrorError } from '../../domain/errors.ts';
import type { ServiceSettings } from '../../settings/parse.ts';
import type { Log, Secret } from '../../domain/log.ts';
import type { ReserveRequest } from '../../domain/rate-reservation.ts';
import type { RetryLimits } from '../http/retry.ts';
import type { Priority } from '../http/rate-limiter.ts';
import type { Fetch } from '../http/request.ts';
import type { TokenSource } from '../auth/token-source.ts';
import type { Answered } from '../wire/document.ts';

/** The kinds of path; each account's vendors and gateways share one gate, its callbacks have another. */
export type Family = 'vendors' | 'gateways' | 'callbacks';

/** What is known of one attempt after it ended: for metrics. `status` is 'error' where no answer came. */
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
  /** Awaited after each answer of success, before anything is made of it. @throws MirrorError where nothing may be. */
  readonly onAnswer?: (accountId: string) => Promise<void>;
  /** Told of every attempt that failed and may succeed a little later. */
  readonly onFailure?: (accountId: string, error: MirrorError) => void;
  /** Told of every attempt that left. */
  readonly observe?: (facts: AttemptFacts) => void;
  /** Other limits than the usual ones on trying again. */
  readonly retryLimits?: RetryLimits;
}

export type Service = Pick<ServiceSettings, 'apiVersion' | 'paging' | 'timeout' | 'rateLimit'> & {
  readonly baseUrl: string;
  /** Fields of vendors that nothing above is to see. */
  readonly exclude?: readonly string[];
};

export interface Call {
  readonly family: Family;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the base URL, from its slash on, each part encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** It is not sent again where it may have been carried out: the same again could undo what others did since. So is every creation. */
  readonly once?: boolean;
  /** Whether somebody waits for it: a part of the rate is kept for what is prompt, which most calls are. */
  readonly priority?: Priority;
  /** What the answer might echo and no message may hold. */
  readonly secret?: Secret;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends a call and reads its answer of success with `read`, within the same attempt: an answer that cannot be read is
 * tried again, unless the call goes `once`. A removal that was tried again and then finds nothing has succeeded; `read` gets no bytes then.
 * @throws MirrorError of any code that requests, answers and tokens have, with `mayBeDone` where a call that goes once may have been
 * carried out; the reason of the call's signal, if that is aborted.
 */
export type Caller = <T>(call: Call, read: (answered: Answered) => T) => Promise<T>;
