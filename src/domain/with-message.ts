import { MirrorError } from './errors.ts';

/** The same error with another message, and optionally with the wait that the service asked for. */
export function withMessage(error: MirrorError, message: string, retryAfter = error.retryAfter): MirrorError {
  const { status, errno, mayBeDone, cause } = error;
  return new MirrorError(error.code, message, {
    ...(status !== undefined && { status }),
    ...(errno !== undefined && { errno }),
    ...(retryAfter !== undefined && { retryAfter }),
    mayBeDone,
    cause,
  });
}
