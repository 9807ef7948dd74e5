/** The server that the settings name. */
import { Secret } from '../../domain/secret.ts';
import { readSecretFile } from '../../settings/file.ts';
import type { PostgresStore } from '../../settings/parse.ts';
import type { PostgresServer } from './session.ts';

/** The server with the schema of the mirror. */
export function mirrorServer(store: PostgresStore): PostgresServer {
  return withCurrentPassword({ ...store });
}

/** The same with the schema of its secrets. */
export function secretsServer(store: PostgresStore): PostgresServer {
  return withCurrentPassword({ ...store, schema: store.secretsSchema });
}

interface WithPassword {
  readonly password?: Secret | undefined;
  readonly passwordFile?: string | undefined;
}

/** The password may be replaced while a daemon runs: its file is read again for each connection. */
export function withCurrentPassword<Of extends WithPassword>(of: Of): Of {
  const { passwordFile } = of;
  if (passwordFile === undefined) return of;
  let { password } = of;
  return {
    ...of,
    get password() {
      try {
        const text = readSecretFile(passwordFile).trim();
        if (text !== '') password = new Secret(text);
      } catch {
        // What was read before may still be right; if not, the server says so.
      }
      return password;
    },
  };
}
