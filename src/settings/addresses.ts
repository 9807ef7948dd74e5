/** Addresses in the settings: which of them are this machine, and that of somebody's PostgreSQL. */
import { isAbsolute } from 'node:path';

const loopbackHosts = new Set(['localhost', '127.0.0.1', '::1', '[::1]']);

export function isLoopback(host: string): boolean {
  return loopbackHosts.has(host) || /^127(\.\d{1,3}){3}$/.test(host);
}

const tlsModes = ['disable', 'require', 'verify-full'] as const;
type TlsMode = (typeof tlsModes)[number];

/** Which server of several is the one to use: any, one whose transactions may write, or one that is no standby. */
const targets = ['any', 'read-write', 'primary'] as const;
type Target = (typeof targets)[number];

export interface PostgresHost {
  /** A name, an IP address, or the folder of a socket. */
  readonly host: string;
  readonly port: number;
  /** The address with this host alone, as messages write it. */
  readonly name: string;
}

/** Where a PostgreSQL is, and as whom it is used. */
export interface PostgresAddress {
  /** In the order in which they are tried; at least one. */
  readonly hosts: readonly PostgresHost[];
  readonly target: Target;
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
const parameters = ['host', 'sslmode', 'sslrootcert', 'target_session_attrs'] as const;
/** Each is waited for in turn. */
const maxHosts = 5;

/** Stands for the host that is left out. */
const socket = 'socket.invalid';

/**
 * The parts of a `postgres://` address; or, where it cannot be used, what it should be. Says nothing of what stands in it.
 * @param passwordKey the key beside it that names a file with the password
 */
export function postgresAddress(text: string, passwordKey = 'passwordFile'): PostgresAddress | string {
  // With several hosts it is no URL, nor without one, as for a socket.
  const [, before = '', places = '', after = ''] =
    /^(postgres(?:ql)?:\/\/(?:[^/@]*@)?)([^/?#]*)(.*)$/s.exec(text) ?? [];
  const urls = places.split(',').flatMap((place, _, { length }) => {
    const whole = `${before}${place === '' && length === 1 ? socket : place}${after}`;
    return URL.canParse(whole) ? [new URL(whole)] : [];
  });
  const [url] = urls;
  if (!url || urls.length < places.split(',').length) return form;
  const { searchParams: query } = url;
  if (url.password !== '' || query.has('password'))
    return `an address without a password: name a file with it as ${passwordKey} beside it`;
  if ([...query.keys()].some((name) => !parameters.some((known) => known === name)) || url.hash !== '')
    return `an address with no other parameters than ${parameters.join(', ')}`;
  const [user, database] = [url.username, url.pathname.slice(1)].map(decoded);
  if (!user || !database) return `${form}, with user and database`;
  const folder = query.get('host') ?? undefined;
  const nameAt = (at: string): string => `postgres://${user}@${at}/${database}${folder ? `?host=${folder}` : ''}`;
  const hosts = urls.map(({ hostname, port }): PostgresHost => {
    const host = folder ?? decoded(hostname)?.replace(/^\[(.*)\]$/, '$1') ?? '';
    const at = `${folder === undefined ? hostname : ''}${port === '' ? '' : `:${port}`}`;
    return { host, port: port === '' ? 5432 : Number(port), name: nameAt(at) };
  });
  const isSocket = folder === undefined || (isAbsolute(folder) && hosts.length === 1);
  if (!isSocket || hosts.some(({ host }) => host === '' || host === socket || host.includes(',')))
    return `${form}; for a socket, postgres://user@/database?host=/run/postgresql`;
  if (hosts.length > maxHosts) return `an address with no more than ${maxHosts} hosts`;
  const isHere = hosts.every(({ host }) => isAbsolute(host) || isLoopback(host));
  const sslmode = query.get('sslmode') ?? (isHere ? 'disable' : 'verify-full');
  const tls = tlsModes.find((mode) => mode === sslmode);
  const rootCertificate = query.get('sslrootcert') ?? undefined;
  if (!tls) return `an address whose sslmode is one of ${tlsModes.join(', ')}`;
  if (rootCertificate !== undefined && (!isAbsolute(rootCertificate) || tls !== 'verify-full'))
    return 'an address whose sslrootcert is an absolute path, with sslmode=verify-full';
  const wanted = query.get('target_session_attrs') ?? (hosts.length > 1 ? 'read-write' : 'any');
  const target = targets.find((one) => one === wanted);
  if (!target) return `an address whose target_session_attrs is one of ${targets.join(', ')}`;
  const [first] = hosts;
  const name = first && hosts.length === 1 ? first.name : nameAt(places);
  return { hosts, target, database, user, tls, rootCertificate, name };
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
