/**
 * Connections to a name with several addresses. Node.js tries one after the other, but by default waits only a quarter of a second for each,
 * which no network with longer round trips can meet. Here each attempt may take a tenth of the time limit of the request. The address that
 * connected last is tried first, so that one from which nothing returns costs its time only once.
 */
import dns, { type LookupAddress } from 'node:dns';
import {
  getDefaultAutoSelectFamilyAttemptTimeout,
  type LookupFunction,
  type Socket,
  type TcpNetConnectOpts,
} from 'node:net';

// A default import: its members are looked up at each call, so that tests can replace the name server.

/** Resolves all addresses of a name, like `dns.lookup`. */
export type Resolve = (
  name: string,
  options: { readonly all: true },
  found: (error: Error | null, addresses: LookupAddress[]) => void,
) => void;

/** The option of a connection that limits each attempt. @param timeout of the whole request, in milliseconds */
export function eachAttempt(timeout: number): Pick<TcpNetConnectOpts, 'autoSelectFamilyAttemptTimeout'> {
  const share = Math.max(timeout / 10, getDefaultAutoSelectFamilyAttemptTimeout());
  // Node.js takes nothing below 10 ms.
  return { autoSelectFamilyAttemptTimeout: Math.max(10, Math.floor(Math.min(share, timeout / 2))) };
}

/** Resolves names, with the address first that connected last. */
export class Addresses {
  readonly #resolve: Resolve;
  readonly #reached = new Map<string, string>();

  constructor(resolve: Resolve = (...question) => dns.lookup(...question)) {
    this.#resolve = resolve;
  }

  /** Fields, because connections get them without the object. */
  readonly all: Resolve = (name, options, found) =>
    this.#resolve(name, options, (error, addresses) => {
      if (error) {
        found(error, []);
        return;
      }
      const reached = this.#reached.get(name);
      const [first, others] = [true, false].map((is) =>
        addresses.filter(({ address }) => (address === reached) === is),
      );
      found(null, [...(first ?? []), ...(others ?? [])]);
    });

  readonly lookup: LookupFunction = (name, { all, family }, found) =>
    this.all(name, { all: true }, (error, addresses) => {
      const wanted = addresses.filter((one) => !(family === 4 || family === 6) || one.family === family);
      if (all) found(error, wanted);
      else found(error, wanted[0]?.address ?? '', wanted[0]?.family);
    });

  /** Remembers to which address of the name a socket connects. */
  note(name: string, socket: Socket): void {
    const remember = (): void => {
      if (socket.remoteAddress !== undefined) this.#reached.set(name, socket.remoteAddress);
    };
    if (socket.connecting) socket.once('connect', remember);
    else remember();
  }
}
