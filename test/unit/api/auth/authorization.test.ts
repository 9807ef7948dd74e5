/** What a person does about a login that the service answers otherwise than it should. */
import { expect, it } from 'vitest';
import { redeem } from '../../../../src/api/auth/authorization.ts';
import { Secret } from '../../../../src/domain/secret.ts';
import { json } from '../../../support/network/service-answers.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

it('L43 an access token without a refresh token is refused, and another login is not advised', async () => {
  const settings = {
    tokenUrl: 'https://api.example.com/auth/oauth/token',
    clientId: 'mirror',
    clientSecret: new Secret('hush'),
    redirectUri: 'http://127.0.0.1:8789/callback',
  };
  const answer = new URLSearchParams({ code: 'c', state: 's' });
  const fetch = (): Promise<Response> => Promise.resolve(json({ access_token: 'at', token_type: 'Bearer' }));
  const login = redeem(settings, { state: 's', verifier: 'v' }, answer, {
    clock: virtualClock(),
    timeout: 1_000,
    fetch,
  });
  await expect(login).rejects.toMatchObject({
    code: 'token_refresh_failed',
    message: expect.stringContaining('without a refresh token') as string,
    remedy: expect.stringMatching(/offline_access.*accessTokenFile/) as string,
  });
});
