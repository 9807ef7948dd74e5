/** The OAuth authorization code flow with PKCE: a URL for the user to open, and a token pair for the code that comes back. */
import {
  AuthorizationResponseError,
  authorizationCodeGrantRequest,
  calculatePKCECodeChallenge,
  validateAuthResponse,
} from 'oauth4webapi';
import type { TokenPair } from '../../domain/secret.ts';
import type { Random } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import type { ExchangeDependencies } from '../http/request.ts';
import {
  clientAuth,
  clientOf,
  errorName,
  pairOf,
  requestOptions,
  scopesOf,
  serverOf,
  tokensOf,
  type OAuthSettings,
} from './oauth-tokens.ts';

/** One login attempt; only the redirect with its `state` belongs to it. */
export interface AuthorizationRequest {
  /** The URL to open in a browser. */
  readonly address: URL;
  readonly state: string;
  /** The PKCE verifier: proves to the token endpoint that the code is redeemed by the one who requested it. */
  readonly verifier: string;
}

export interface Authorized {
  readonly pair: TokenPair;
  /** The granted scopes; undefined where the service did not list them. */
  readonly scopes: readonly string[] | undefined;
}

/** Starts a login. @throws MirrorError `settings_invalid` where the settings have no `authorizeUrl`. */
export async function authorizationRequest(settings: OAuthSettings, random: Random): Promise<AuthorizationRequest> {
  const { authorizeUrl, clientId, redirectUri, scopes } = settings;
  if (authorizeUrl === undefined)
    throw new MirrorError(
      'settings_invalid',
      'service.auth.oauth.authorizeUrl is not set, so there is no page to log in at.',
    );
  const word = (bytes: number): string => Buffer.from(random.bytes(bytes)).toString('base64url');
  const [state, verifier] = [word(16), word(32)] as const;
  const address = new URL(authorizeUrl);
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    state,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(scopes && { scope: scopes.join(' ') }),
  };
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  return { address, state, verifier };
}

/**
 * Exchanges the query of the redirect for tokens.
 * @throws MirrorError `token_refresh_failed` where the user or the service refused, `usage` where the answer does not belong to this login.
 */
export async function redeem(
  settings: OAuthSettings,
  request: Pick<AuthorizationRequest, 'state' | 'verifier'>,
  answer: URLSearchParams,
  dependencies: ExchangeDependencies,
): Promise<Authorized> {
  const [server, client] = [serverOf(settings), clientOf(settings)];
  const named = new URLSearchParams(answer);
  // `iss` is not checked: no setting has the issuer, and the code is sent only to the configured token endpoint.
  named.delete('iss');
  const parameters = accepted(() => validateAuthResponse(server, client, named, request.state));
  const begun = dependencies.clock.now();
  const response = await authorizationCodeGrantRequest(
    server,
    client,
    clientAuth(settings),
    parameters,
    settings.redirectUri,
    request.verifier,
    requestOptions(settings, dependencies),
  );
  const tokens = await tokensOf(response, 'the code');
  return { pair: pairOf(tokens, begun), scopes: scopesOf(tokens) };
}

function accepted(validate: () => URLSearchParams): URLSearchParams {
  let parameters: URLSearchParams;
  try {
    parameters = validate();
  } catch (error) {
    if (error instanceof AuthorizationResponseError) {
      const reason = errorName(error.error);
      throw new MirrorError('token_refresh_failed', `The service did not authorize vendor-mirror: ${reason}.`);
    }
    throw new MirrorError('usage', 'This is not the answer to this login: its state is missing or different.');
  }
  if (!parameters.get('code')) throw new MirrorError('usage', 'There is no code in the address that came back.');
  return parameters;
}
