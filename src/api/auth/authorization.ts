/** The authorization code flow, with PKCE: an address for a person to open, and a pair of tokens for the code that comes back. */
import {
  AuthorizationResponseError,
  authorizationCodeGrantRequest,
  calculatePKCECodeChallenge,
  processAuthorizationCodeResponse,
  validateAuthResponse,
} from 'oauth4webapi';
import type { Random } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import type { ExchangeDependencies } from '../http/request.ts';
import {
  clientAuth,
  clientOf,
  pairOf,
  requestOptions,
  serverOf,
  tokensOf,
  type OAuthSettings,
  type TokenPair,
} from './token-request.ts';

/** A question to a person, which one answer fits. */
export interface AuthorizationRequest {
  /** What the person opens in a browser. */
  readonly address: URL;
  readonly state: string;
  /** Proves to the token endpoint that whoever redeems the code is who asked for it. */
  readonly verifier: string;
}

export interface Authorized {
  readonly pair: TokenPair;
  /** What the tokens may do; undefined where the service did not say. */
  readonly scopes: readonly string[] | undefined;
}

/** @throws MirrorError `settings_invalid` where the settings name no page to authorize at. */
export async function authorizationRequest(settings: OAuthSettings, random: Random): Promise<AuthorizationRequest> {
  const { authorizeUrl, clientId, redirectUri, scopes } = settings;
  if (authorizeUrl === undefined)
    throw new MirrorError(
      'settings_invalid',
      'service.auth.oauth.authorizeUrl is not set: there is nowhere to log in.',
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
 * Redeems what came back in the query of the redirect.
 * @throws MirrorError `token_refresh_failed` where the person or the service refused, `usage` where it is the answer to another question.
 */
export async function redeem(
  settings: OAuthSettings,
  request: Pick<AuthorizationRequest, 'state' | 'verifier'>,
  answer: URLSearchParams,
  dependencies: ExchangeDependencies,
): Promise<Authorized> {
  const [server, client] = [serverOf(settings), clientOf(settings)];
  const named = new URLSearchParams(answer);
  // By what name the service calls itself, no setting says; the code is sent to the token endpoint of the settings alone.
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
  const tokens = await tokensOf(response, 'the code', () => processAuthorizationCodeResponse(server, client, response));
  return { pair: pairOf(tokens, begun), scopes: tokens.scope?.split(' ').filter((scope) => scope !== '') };
}

function accepted(validate: () => URLSearchParams): URLSearchParams {
  let parameters: URLSearchParams;
  try {
    parameters = validate();
  } catch (error) {
    if (error instanceof AuthorizationResponseError) {
      const reason = /^[a-z_]{1,40}$/.test(error.error) ? error.error : 'an unknown error';
      throw new MirrorError('token_refresh_failed', `The service did not authorize vendor-mirror: ${reason}.`);
    }
    throw new MirrorError('usage', 'This is not the answer to this login: its state is another one, or missing.');
  }
  if (!parameters.get('code')) throw new MirrorError('usage', 'There is no code in the address that came back.');
  return parameters;
}
