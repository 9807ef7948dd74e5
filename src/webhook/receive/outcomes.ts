/** The outcomes of requests to the listener, each with its HTTP status. */

export const statusOf = {
  /** A delivery: journalled, and its vendor marked. */
  accepted: 200,
  /** A correctly signed delivery that is not about a vendor: journalled. */
  ignored: 200,
  /** A verification code: kept until the service confirms it. */
  verification: 200,
  malformed: 400,
  /** No signature, or several. */
  unsigned: 400,
  /** Broke the protocol, or was too slow (400, 408, 431). */
  broken: 400,
  wrong_signature: 401,
  /** A code that was not awaited. */
  unexpected_code: 403,
  unknown_path: 404,
  wrong_method: 405,
  too_large: 413,
  wrong_type: 415,
  /** Too many deliveries wait. */
  overloaded: 503,
  /** The database is locked or the disk full, or an error of our own. */
  unavailable: 503,
} as const;

export type Outcome = keyof typeof statusOf;

const refusals: Readonly<Record<number, Outcome>> = {
  404: 'unknown_path',
  405: 'wrong_method',
  413: 'too_large',
  415: 'wrong_type',
};

/** The outcome of a refusal by the server, before the body was read. */
export function outcomeOfRefusal(status: number): Outcome {
  return refusals[status] ?? 'broken';
}
