/** Sends calls: renews a refused token, and retries where that may help and cannot do something twice. */
import { MirrorError, type ErrorCode } from '../../domain/errors.ts';
import { unlessAborted } from '../../domain/async/unless-aborted.ts';
import type { Secret } from '../../domain/log.ts';
import { sendOnce } from './send-once.ts';
import type { ApiDependencies, ApiSettings, Caller, Family } from './call.ts';
import { neverArrived } from '../http/network-errors.ts';
import { defaultRetryLimits } from '../../domain/retry/request-policy.ts';
import { retried } from '../http/retry.ts';
import type { RateLimiter } from '../http/rate-limiter.ts';

export function caller(
  accountId: string,
  service: ApiSettings,
  limiters: Readonly<Record<Family, RateLimiter>>,
  dependencies: ApiDependencies,
): Caller {
  return async (call, read) => {
    const limiter = limiters[call.family];
    let wasSent = false;
    let renewed = false;

    const attempt = async (number: number): Promise<ReturnType<typeof read>> => {
      const send = (token: Secret): Promise<ReturnType<typeof read>> =>
        sendOnce(
          { accountId, call, token, service, limiter, dependencies, again: number > 1, onSend: () => (wasSent = true) },
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

    try {
      const answered = await retried(attempt, {
        clock: dependencies.clock,
        random: dependencies.random,
        retryLimits: dependencies.retryLimits ?? defaultRetryLimits,
        signal: call.signal,
        mayRetry: (error) => error.retry && !mayBeDone(error),
        onWait(error, wait) {
          const { code, message, retryAfter } = error;
          dependencies.onFailure?.(accountId, error);
          const facts = { account: accountId, code, wait: Math.round(wait), method: call.method, family: call.family };
          // A long wait is logged as a warning, so that a person at a terminal knows the reason.
          if (retryAfter !== undefined && wait >= noticeable)
            dependencies.log.warn(facts, `the service asks for a wait of ${Math.round(wait / 1_000)} s: ${message}`);
          else dependencies.log.info(facts, message);
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
  return new MirrorError(code, `${error.message} It may have been carried out nevertheless.`, {
    ...(status !== undefined && { status }),
    ...(errno !== undefined && { errno }),
    mayBeDone: true,
    cause,
  });
}
