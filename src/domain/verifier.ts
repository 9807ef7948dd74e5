/**
 * Verification codes, and the signature keys ("verifiers") that they become: the states of a code, and what moves it between them. Everything
 * that changes a stored code takes the next state from here. Pure: which code belongs to which callback, and whether one is awaited, its
 * callers know.
 *
 *   candidate   came while one was awaited; verifies nothing, because anyone may have sent it
 *   proven      the service accepted it for its callback, and lists the callback as verified: the key of that callback
 *   previous    was the key of a callback that has another one now, or that no longer exists; stays a key for a day, because deliveries
 *               signed with it may be under way
 *
 *   evidence     is                                                 no code     candidate   proven      previous
 *   -----------  -------------------------------------------------  ----------  ----------  ----------  ----------
 *   received     it came, and one is awaited                        candidate   candidate   proven +    previous +
 *   wrong        the service rejected it                                        no code     proven      previous
 *   right        the service accepted it                            proven      proven      proven      proven
 *   superseded   its callback got another code, or ceased to exist              no code     previous    previous
 *   expired      a day has passed since it was superseded                       candidate   proven      no code
 *
 * `+`: it came again, and waits to be tried like a candidate, until it was wrong or right: the service may repeat a code.
 */

export type CodeState = 'candidate' | 'proven' | 'previous';

export interface Code {
  readonly state: CodeState;
  /** A key that came again while a code was awaited. */
  readonly cameAgain: boolean;
}

export type CodeEvidence = 'received' | 'wrong' | 'right' | 'superseded' | 'expired';

/** The code after this evidence; undefined where none is stored, before or after. */
export function nextCode(code: Code | undefined, evidence: CodeEvidence): Code | undefined {
  switch (evidence) {
    case 'received':
      return code ? { ...code, cameAgain: code.state !== 'candidate' } : { state: 'candidate', cameAgain: false };
    case 'wrong':
      return code && code.state !== 'candidate' ? { ...code, cameAgain: false } : undefined;
    case 'right':
      return { state: 'proven', cameAgain: false };
    case 'superseded':
      return code && code.state !== 'candidate' ? { ...code, state: 'previous' } : undefined;
    case 'expired':
      return code?.state === 'previous' ? undefined : code;
  }
}

/** Whether the service is asked about a code. */
export function waitsToBeTried({ state, cameAgain }: Code): boolean {
  return state === 'candidate' || cameAgain;
}

/** Whether a signature may be verified with a code. @param isExpired whether a day has passed since it was superseded */
export function isKey({ state }: Pick<Code, 'state'>, isExpired: boolean): boolean {
  return state === 'proven' || (state === 'previous' && !isExpired);
}

/** Until when a key that is superseded at this moment stays valid, milliseconds since 1970. */
export function lastUseOf(superseded: number): number {
  return superseded + 86_400_000;
}
