/** What can become of a request to the listener, and the status that says so. */

export const statusOf = {
  /** A delivery, journalled, its vendor marked. */
  accepted: 200,
  /** A genuine delivery about something else, journalled. */
  ignored: 200,
  /** A code, kept until the service has said whether it is right. */
  verification: 200,
  malformed: 400,
  /** Without a signature, or with several. */
  unsigned: 400,
  /** It broke the protocol, or was too slow (400, 408, 431). */
  broken: 400,
  wrong_signature: 401,
  /** A code that nobody asked for. */
  unexpected_code: 403,
  unknown_path: 404,
  wrong_method: 405,
  too_large: 413,
  wrong_type: 415,
  /** Too much waits already. */
  overloaded: 503,
  /** The file is locked or full, or a fault of ours. */
  unavailable: 503,
} as const;

export type Outcome = keyof typeof statusOf;

const refusals: Readonly<Record<number, Outcome>> = {
  404: 'unknown_path',
  405: 'wrong_method',
  413: 'too_large',
  415: 'wrong_type',
};

/** What a refusal means that was made before the body was looked at. */
export function outcomeOfRefusal(status: number): Outcome {
  return refusals[status] ?? 'broken';
}
