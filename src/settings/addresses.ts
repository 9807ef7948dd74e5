/** Addresses in the settings: which of them are this machine, and that of somebody's PostgreSQL. */
import { isAbsolute } from 'node:path';

const loopbackHosts = new Set(['localhost', '127.0.0.1', '::1', '[::1]']);

/** Whether a host name means this machine. */
export function isLoopback(host: string): boolean {
  return loopbackHosts.has(host) || /^127(\.\d{1,3}){3}$/.test(host);
}

const tlsModes = ['disable', 'require', 'verify-full'] as const;
type TlsMode = (typeof tlsModes)[number];

/** Where a PostgreSQL is, and as whom it is used. */
export interface PostgresAddress {
  /** A name, an IP address, or the folder of a socket. */
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  /** `require` encrypts, and does not check whom it talks to. */
  readonly tls: TlsMode;
  /** A file of certificate authorities, in place of those that Node.js knows. */
  readonly rootCertificate: string | undefined;
  /** As messages write it. */
  readonly name: string;
}

const form = 'an address such as postgres://user@db.example.com/database';
const parameters = ['host', 'sslmode', 'sslrootcert'] as const;

/** Stands for the host that is left out. */
const socket = 'socket.invalid';

/**
 * The parts of a `postgres://` address; or, where it cannot be used, what it should be. Says nothing of what stands in it.
 * @param passwordKey the key beside it that names a file with the password
 */
export function postgresAddress(text: string, passwordKey = 'passwordFile'): PostgresAddress | string {
  // Without a host, as for a socket, it is no URL.
  const whole = text.replace(/^(postgres(?:ql)?:\/\/[^/@]*@)\//, `$1${socket}/`);
  const url = /^postgres(ql)?:\/\//.test(whole) && URL.canParse(whole) ? new URL(whole) : undefined;
  if (!url) return form;
  const { searchParams: query } = url;
  if (url.password !== '' || query.has('password'))
    return `an address without a password: name a file with it as ${passwordKey} beside it`;
  if ([...query.keys()].some((name) => !parameters.some((known) => known === name)) || url.hash !== '')
    return `an address with no other parameters than ${parameters.join(', ')}`;
  const [user, database, named] = [url.username, url.pathname.slice(1), url.hostname].map(decoded);
  const host = query.get('host') ?? named?.replace(/^\[(.*)\]$/, '$1');
  if (!user || !database) return `${form}, with user and database`;
  if (!host || host === socket || host.includes(',') || (query.has('host') && !isAbsolute(host)))
    return `${form}; for a socket, postgres://user@/database?host=/run/postgresql`;
  const isHere = isAbsolute(host) || isLoopback(host);
  const sslmode = query.get('sslmode') ?? (isHere ? 'disable' : 'verify-full');
  const tls = tlsModes.find((mode) => mode === sslmode);
  const rootCertificate = query.get('sslrootcert') ?? undefined;
  if (!tls) return `an address whose sslmode is one of ${tlsModes.join(', ')}`;
  if (rootCertificate !== undefined && (!isAbsolute(rootCertificate) || tls !== 'verify-full'))
    return 'an address whose sslrootcert is an absolute path, with sslmode=verify-full';
  const port = url.port === '' ? 5432 : Number(url.port);
  const at = `${isAbsolute(host) ? host : (named ?? '')}${url.port === '' ? '' : `:${url.port}`}`;
  return { host, port, database, user, tls, rootCertificate, name: `postgres://${user}@${at}/${database}` };
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
