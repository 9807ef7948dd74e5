/** What a failed connection is called among people, and whether the request can have reached the service. */
import { MirrorError } from '../../domain/errors.ts';

/** Failures before a connection stood: the service has seen nothing of the request. */
const before: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'its name is unknown to the name server',
  EAI_AGAIN: 'the name server does not answer',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no network',
  UND_ERR_CONNECT_TIMEOUT: 'no connection came about in time',
  CERT_HAS_EXPIRED: 'its TLS certificate has expired (or the clock of this machine is wrong)',
  CERT_NOT_YET_VALID: 'its TLS certificate is not valid yet (or the clock of this machine is wrong)',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its TLS certificate is signed by itself',
  SELF_SIGNED_CERT_IN_CHAIN: 'its TLS certificate is signed by an unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its TLS certificate is signed by an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its TLS certificate is signed by an unknown authority',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its TLS certificate is for another name',
};

const under: Readonly<Record<string, string>> = {
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_SOCKET: 'the connection was closed',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the connection was closed early',
};

/**
 * `service_unreachable` in words, for whatever a fetch threw. The thrown thing itself is not kept: it may hold headers.
 */
export function unreachable(host: string, error: unknown): MirrorError {
  const code = networkCode(error);
  const words = before[code] ?? under[code] ?? `the connection failed${code && ` (${code})`}`;
  return new MirrorError('service_unreachable', `Could not reach ${host}: ${words}.`, {
    cause: new NetworkFault(code),
  });
}

/** The bare code of a failure (ECONNRESET, …), without what it was about. */
class NetworkFault extends Error {
  override readonly name = 'NetworkFault';
  readonly code: string;

  constructor(code: string) {
    super(code || 'unknown');
    this.code = code;
  }
}

/** Whether the failed request surely never reached the service, so that even a creation may be tried again. */
export function neverLeft(error: MirrorError): boolean {
  return error.cause instanceof NetworkFault && error.cause.code in before;
}

/** The code deepest in the chain of causes; fetch wraps its errors, and several addresses make a bundle of them. */
export function networkCode(error: unknown): string {
  let code = '';
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    const named: unknown = 'code' in at ? at.code : undefined;
    const bundled: unknown = at instanceof AggregateError ? at.errors[0] : undefined;
    if (typeof named === 'string' && /^[A-Z][A-Z0-9_]{0,60}$/.test(named)) code = named;
    else if (bundled instanceof Error) code = networkCode(bundled) || code;
  }
  return code;
}
