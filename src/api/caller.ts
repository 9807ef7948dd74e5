/** Calls with a token that is renewed when refused, tried again where that helps and cannot do a thing twice. */
import { MirrorError } from '../errors.ts';
import { unlessAborted } from '../lifecycle.ts';
import type { Secret } from '../log.ts';
import { sendOnce } from './attempt.ts';
import type { ApiSeams, Caller, Family, Service } from './call.ts';
import { neverLeft } from './network-words.ts';
import { paced, patience } from './pacing.ts';
import type { RateGate } from './rate-gate.ts';
import { reworded } from './reworded.ts';

export function caller(service: Service, gates: Readonly<Record<Family, RateGate>>, seams: ApiSeams): Caller {
  return async (call, read) => {
    const gate = gates[call.family];
    let left = false;
    let renewed = false;

    const attempt = async (number: number): Promise<ReturnType<typeof read>> => {
      const send = (token: Secret): Promise<ReturnType<typeof read>> =>
        sendOnce({ call, token, service, gate, seams, again: number > 1, onLeave: () => (left = true) }, read);
      left = false;
      const token = await unlessAborted(seams.tokens.current(), call.signal);
      try {
        return await send(token);
      } catch (error) {
        if (renewed || !isMirrorError(error, 'unauthenticated')) throw error;
        renewed = true;
        const fresh = await unlessAborted(seams.tokens.renew(token), call.signal);
        if (!fresh) throw error;
        return await send(fresh);
      }
    };

    /** Only a creation does more when it is done twice. */
    const mayBeDone = (error: MirrorError): boolean => call.method === 'POST' && left && mayHaveArrived(error);

    try {
      const answered = await paced(attempt, {
        clock: seams.clock,
        dice: seams.dice,
        patience: seams.patience ?? patience,
        signal: call.signal,
        mayRetry: (error) => error.retry && !mayBeDone(error),
        onWait: ({ code, message }, wait) =>
          seams.log.info({ code, wait: Math.round(wait), method: call.method, family: call.family }, message),
      });
      await seams.onAnswer?.();
      return answered;
    } catch (error) {
      if (isMirrorError(error) && error.retry && mayBeDone(error))
        throw reworded(error, `${error.message} It may have been carried out all the same: look before you try again.`);
      throw error;
    }
  };
}

function isMirrorError(error: unknown, code?: MirrorError['code']): error is MirrorError {
  return error instanceof MirrorError && (code === undefined || error.code === code);
}

function mayHaveArrived(error: MirrorError): boolean {
  const turnedAway = error.code === 'rate_limited' || (error.status === 503 && error.retryAfter !== undefined);
  return !turnedAway && !neverLeft(error);
}
