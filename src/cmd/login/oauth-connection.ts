/** Which connection `login` and `logout` are about. */
import type { OAuthSettings } from '../../api/auth/token-request.ts';
import { MirrorError } from '../../domain/errors.ts';
import { defaultConnection, type Settings } from '../../settings/parse.ts';

export interface OAuthConnection {
  readonly name: string;
  readonly oauth: OAuthSettings;
}

/**
 * The connection of that name; where none is named, the only one that is got by logging in, or that of `service.auth`.
 * @throws MirrorError `usage` for a name that the settings do not have, or where one must be named; `settings_invalid` where access is got in
 * another way.
 */
export function oauthConnection({ connections }: Settings, named: string | undefined): OAuthConnection {
  const all = [...connections].flatMap(([name, auth]) => ('oauth' in auth ? [{ name, oauth: auth.oauth }] : []));
  const names = all.map(({ name }) => name).join(', ');
  if (named !== undefined && !connections.has(named))
    throw new MirrorError(
      'usage',
      `The settings name no connection ${named}; ${names === '' ? 'none of them uses a login' : `those that use a login are ${names}`}.`,
    );
  const wanted = named ?? (all.length === 1 ? all[0]?.name : defaultConnection);
  const found = all.find(({ name }) => name === wanted);
  if (found) return found;
  if (named === undefined && all.length > 1)
    throw new MirrorError('usage', `The settings have several connections: name one of ${names}.`);
  const where = wanted === undefined || wanted === defaultConnection ? 'service.auth' : `connections.${wanted}.auth`;
  throw new MirrorError(
    'settings_invalid',
    `${where}.oauth is not set. Only OAuth needs a login; an access token works without one.`,
  );
}
