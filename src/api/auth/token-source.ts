/** Sources of access tokens: the settings, a file, a command (command-token.ts) or OAuth (oauth-tokens.ts). */
import { readFile, stat } from 'node:fs/promises';
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
  const usable = usableToken(token.reveal(), 'The access token of the settings');
  return {
    current: () => Promise.resolve(usable),
    renew: () => Promise.resolve(undefined),
  };
}

/** The largest token file, in bytes. */
const mostToken = 2 ** 16;

/** The token in a file, read again whenever the file changes and after every 401. */
export function fileToken(path: string): TokenSource {
  let held: { readonly token: Secret; readonly version: string } | undefined;

  const read = async (): Promise<Secret> =>
    usableToken((await fromFile(() => readFile(path, 'utf8'))).trim(), `The file ${path}`);
  const version = async (): Promise<string> => {
    const { mtimeMs, size, ino } = await fromFile(async () => {
      const stats = await stat(path);
      if (!stats.isFile() || stats.size > mostToken)
        throw Object.assign(new Error('No token is like that.'), { code: 'no regular file of at most 64 kB' });
      return stats;
    });
    return `${mtimeMs} ${size} ${ino}`;
  };
  const load = async (): Promise<Secret> => {
    // The version is read first, so that a change in between is noticed next time.
    const seen = await version();
    held = { version: seen, token: await read() };
    return held.token;
  };

  return {
    current: async () => (held?.version === (await version()) ? held.token : load()),
    async renew(rejected) {
      const token = await load();
      return token.reveal() === rejected.reveal() ? undefined : token;
    },
  };
}

async function fromFile<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    // Without its name: the settings may contain the token itself in place of a file name.
    throw new MirrorError('unauthenticated', `Cannot read the file of accessTokenFile${code}.`);
  }
}

/** A token that is valid in a header. Others are refused here, because fetch would quote the whole header in its error. */
export function usableToken(text: string, origin: string): Secret {
  if (!/^[\x21-\x7e]+$/.test(text))
    throw new MirrorError(
      'unauthenticated',
      `${origin} holds no usable access token: one line of visible ASCII is needed.`,
    );
  return new Secret(text);
}
