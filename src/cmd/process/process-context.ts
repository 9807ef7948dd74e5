/** What a command sees of the process around it. A test hands over its own. */
import type { Readable } from 'node:stream';
import type { CertificateTimes } from '../../api/http/node-fetch.ts';
import type { Fetch } from '../../api/http/request.ts';
import { withRemedy, type MirrorError } from '../../domain/errors.ts';
import { systemClock, systemRandom, type Clock, type Random } from '../../domain/clock.ts';

/** Streams that may be a terminal. */
export type Input = Readable & { readonly isTTY?: boolean };
export type Output = NodeJS.WritableStream & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

export interface ProcessContext {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly random: Random;
  /** What the key of an export of secrets costs, where it is less than usual. */
  readonly sealingCost?: number;
  readonly fetch: Fetch;
  /** The proxy through which requests to an address go; undefined for none. */
  readonly proxyOf: (url: URL) => Promise<URL | undefined>;
  /** When the certificate at an address is valid; undefined where that cannot be seen. */
  readonly certificateTimes: (url: URL) => Promise<CertificateTimes | undefined>;
  /** Aborted when the person at the terminal, or the system, wants an end. */
  readonly interrupted: AbortSignal;
  /** Where package.json, config/ and migrations/ are. */
  readonly packageRoot: string;
  /** The settings of a machine on which neither an option nor the environment names any. */
  readonly machineSettings: string;
  /** The names of the options that Node.js was started with. */
  readonly nodeOptions?: readonly string[];
  /** The option that names the settings in use, for commands that messages name. */
  readonly settingsOption?: string;
  /** What each JSON document of the command also says, once the settings are known. */
  readonly inEveryDocument?: object;
}

/** The edge of this process. The network is loaded when it is needed for the first time. */
export function processContext(interrupted: AbortSignal, packageRoot: string): ProcessContext {
  let network: Promise<Fetch> | undefined;
  return {
    // Looking at it opens it; most commands never do.
    get stdin() {
      return process.stdin;
    },
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    clock: systemClock,
    random: systemRandom,
    async fetch(...request) {
      network ??= import('../../api/http/node-fetch.ts').then(({ nodeFetch, environmentProxy }) =>
        nodeFetch(environmentProxy),
      );
      return (await network)(...request);
    },
    proxyOf: async (url) => (await import('../../api/http/node-fetch.ts')).environmentProxy(url),
    certificateTimes: async (url) => (await import('../../api/http/node-fetch.ts')).certificateTimes(url),
    interrupted,
    packageRoot,
    machineSettings: '/etc/vendor-mirror/mirror.yaml',
    nodeOptions: nodeOptionsOf(process),
  };
}

/** Without their values. */
function nodeOptionsOf({ env, execArgv }: Pick<typeof process, 'env' | 'execArgv'>): string[] {
  const given = [...(env['NODE_OPTIONS'] ?? '').split(/\s+/), ...execArgv];
  const names = given.flatMap((word) => /^["']?(--?[a-z][\w-]*)/.exec(word)?.[1] ?? []);
  return [...new Set(names)];
}

/** A fault of the program, with what to do about it first: options may take from Node.js what programs rely on. */
export function withNodeOptions(
  bug: MirrorError,
  { nodeOptions = [] }: Pick<ProcessContext, 'nodeOptions'>,
): MirrorError {
  if (nodeOptions.length === 0) return bug;
  const started = `Node.js was started with ${nodeOptions.join(', ')} (NODE_OPTIONS or its command line)`;
  return withRemedy(bug, `${started}: try without first. If that does not help, report it with the lines above.`);
}

/** Characters in a line, or `otherwise` where the terminal does not say; some containers, and `script`, say 0. */
export function columnsOf({ columns }: Output, otherwise: number): number {
  return columns === undefined || columns === 0 ? otherwise : columns;
}

/** Lines on the screen, or `otherwise` where the terminal does not say. */
export function rowsOf({ rows }: Output, otherwise: number): number {
  return rows === undefined || rows === 0 ? otherwise : rows;
}
