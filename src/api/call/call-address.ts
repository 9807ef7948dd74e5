/** The URL of a call. */
import { MirrorError } from '../../domain/errors.ts';
import type { Call } from './call.ts';

/** The URL of a call, always at the origin and below the path of the base URL, because it receives the token. */
export function addressOf(call: Pick<Call, 'path' | 'query'>, baseUrl: string): URL {
  const base = new URL(baseUrl);
  const path = base.pathname.replace(/\/+$/, '') + call.path;
  const url = new URL(path, base.origin);
  if (url.origin !== base.origin || url.pathname !== path)
    throw new MirrorError('bug', `A request was about to be sent to an address outside ${base.origin}.`);
  url.search = new URLSearchParams(call.query).toString();
  return url;
}
