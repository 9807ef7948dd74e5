/** Sources of access tokens: the settings, a file (file-token.ts), a command (command-token.ts) or OAuth (oauth-tokens.ts). */
import { MirrorError } from '../../domain/errors.ts';
import { Secret } from '../../domain/log.ts';

export interface TokenSource {
  /** The token to send. @throws MirrorError `unauthenticated` or `token_refresh_failed` where there is none. */
  current(): Promise<Secret>;
  /** A token other than `rejected`, which was answered with 401; undefined where there is none. */
  renew(rejected: Secret): Promise<Secret | undefined>;
  /** Called when a request was answered with 401 and there is no other token. @returns the error to report. */
  refused?(error: MirrorError): MirrorError;
}

/** A fixed token. */
export function fixedToken(token: Secret): TokenSource {
  const usable = usableToken(token.reveal(), 'The setting accessToken');
  return {
    current: () => Promise.resolve(usable),
    renew: () => Promise.resolve(undefined),
  };
}

/** A token that is valid in a header. Others are refused here, because fetch would quote the whole header in its error. */
export function usableToken(text: string, origin: string): Secret {
  if (!/^[\x21-\x7e]+$/.test(text))
    throw new MirrorError(
      'unauthenticated',
      `${origin} contains no usable access token: one line of visible ASCII is needed.`,
    );
  return new Secret(text);
}
