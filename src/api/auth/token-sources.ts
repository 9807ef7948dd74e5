/** Sources of access tokens: the settings, a file or a command here; OAuth in oauth-tokens.ts. */
import { spawn } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import type { Clock } from '../../domain/clock.ts';
import { SingleFlight } from '../../domain/concurrency.ts';
import { codeOf, MirrorError } from '../../domain/errors.ts';
import { Secret } from '../../domain/secret.ts';

export interface TokenSource {
  /** The token to send. @throws MirrorError `token_unusable` or `token_refresh_failed` where there is none. */
  current(): Promise<Secret>;
  /** A token other than `rejected`, which was answered with 401; undefined where there is none. */
  renew(rejected: Secret): Promise<Secret | undefined>;
  /** Called when a request was answered with 401 and there is no other token. @returns the error to report. */
  refused?(error: MirrorError): MirrorError;
}

export function fixedToken(token: Secret): TokenSource {
  const usable = usableToken(token.reveal(), 'The setting accessToken');
  return {
    current: () => Promise.resolve(usable),
    renew: () => Promise.resolve(undefined),
  };
}

/**
 * A token that is valid in a header, also where it was copied with the word before it. Others are refused here, because fetch would quote the
 * whole header in its error.
 */
export function usableToken(copied: string, origin: string): Secret {
  const text = copied.replace(/^(?:authorization: *)?bearer +/i, '');
  if (!/^[\x21-\x7e]+$/.test(text))
    throw new MirrorError(
      'token_unusable',
      `${origin} contains no usable access token: one line of visible ASCII without blanks is needed.`,
    );
  return new Secret(text);
}

/** The largest token file, in bytes. */
const maxBytes = 2 ** 16;

/** The file is read again whenever it changes, and after every 401. */
export class FileToken implements TokenSource {
  readonly #path: string;
  #last: { readonly token: Secret; readonly version: string } | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  async current(): Promise<Secret> {
    return this.#last?.version === (await this.#version()) ? this.#last.token : this.#read();
  }

  async renew(rejected: Secret): Promise<Secret | undefined> {
    const token = await this.#read();
    return token.reveal() === rejected.reveal() ? undefined : token;
  }

  async #read(): Promise<Secret> {
    // The version is read first, so that a change in between is noticed next time.
    const version = await this.#version();
    const text = await fromFile(() => readFile(this.#path, 'utf8'));
    this.#last = { version, token: usableToken(text.trim(), `The file ${this.#path}`) };
    return this.#last.token;
  }

  async #version(): Promise<string> {
    const stats = await fromFile(() => stat(this.#path));
    if (!stats.isFile() || stats.size > maxBytes) throw unreadable('it is not a regular file of at most 64 kB');
    return `${stats.mtimeMs} ${stats.size} ${stats.ino}`;
  }
}

async function fromFile<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw unreadable(codeOf(error) ?? 'unknown error');
  }
}

/** Without the name of the file: the settings may contain the token itself in its place. */
function unreadable(why: string): MirrorError {
  return new MirrorError('token_unusable', `The file of accessTokenFile cannot be read: ${why}.`);
}

/** A string is run by the shell, a list directly. */
export type TokenCommand = string | readonly string[];

/** Access tokens from a command, such as a password manager's. */
export interface CommandDependencies {
  readonly clock: Pick<Clock, 'now' | 'timer'>;
  /** Time limit of the command, in milliseconds. */
  readonly timeout: number;
}

interface Printed {
  readonly token: Secret;
  /** Expiry, milliseconds since 1970; Infinity where the command does not report one. */
  readonly expiresAt: number;
}

/** The largest output that is read, in bytes. */
const maxOutput = 2 ** 16;

/** A token is renewed this long before it expires, in milliseconds, or after half its lifetime where that is shorter. */
const margin = 60_000;

const origin = 'The output of accessTokenCommand';

/** The command runs when the first token is needed, after every 401, and before a reported expiry. */
export class CommandToken implements TokenSource {
  readonly #command: TokenCommand;
  readonly #dependencies: CommandDependencies;
  readonly #runs = new SingleFlight<Printed>();
  #printed: Printed | undefined;

  constructor(command: TokenCommand, dependencies: CommandDependencies) {
    this.#command = command;
    this.#dependencies = dependencies;
  }

  async current(): Promise<Secret> {
    const { clock } = this.#dependencies;
    const printed = this.#printed;
    return printed && printed.expiresAt > clock.now() ? printed.token : this.#run();
  }

  async renew(rejected: Secret): Promise<Secret | undefined> {
    // Another account of the connection may have renewed it already.
    if (this.#printed && this.#printed.token.reveal() !== rejected.reveal()) return this.#printed.token;
    const token = await this.#run();
    return token.reveal() === rejected.reveal() ? undefined : token;
  }

  async #run(): Promise<Secret> {
    this.#printed = await this.#runs.run(async () => {
      const begun = this.#dependencies.clock.now();
      return printedToken(await outputOf(this.#command, this.#dependencies), begun);
    });
    return this.#printed.token;
  }
}

/** Accepts a token alone, or the JSON of a token endpoint: `access_token`, and `expires_in` in seconds. */
function printedToken(output: string, begun: number): Printed {
  const text = output.trim();
  if (!text.startsWith('{')) return { token: usableToken(text, origin), expiresAt: Infinity };
  const { access_token, expires_in } = documentOf(text);
  const token = usableToken(typeof access_token === 'string' ? access_token : '', origin);
  if (typeof expires_in !== 'number' || !(expires_in > 0)) return { token, expiresAt: Infinity };
  const lifetime = expires_in * 1_000;
  return { token, expiresAt: begun + lifetime - Math.min(margin, lifetime / 2) };
}

function documentOf(text: string): { readonly access_token?: unknown; readonly expires_in?: unknown } {
  try {
    return JSON.parse(text) as { access_token?: unknown; expires_in?: unknown };
  } catch {
    // The parser's own message would quote the output.
    throw new MirrorError('token_unusable', `${origin} begins with { but is not JSON.`);
  }
}

/**
 * The standard output of the command. Its standard error is discarded, because it may contain a secret too.
 * @throws MirrorError `token_unusable`, with nothing of the output in its message.
 */
function outputOf(command: TokenCommand, { clock, timeout }: CommandDependencies): Promise<string> {
  const [file = '', ...args] = typeof command === 'string' ? ['/bin/sh', '-c', command] : command;
  return new Promise((resolve, reject) => {
    // In its own process group, so that its child processes can be ended with it.
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'ignore'], detached: true });
    const chunks: Buffer[] = [];
    let length = 0;
    const fail = (why: string): void => {
      cancel();
      endGroup(child.pid);
      child.stdout.destroy();
      reject(new MirrorError('token_unusable', `The command of accessTokenCommand ${why}.`));
    };
    const cancel = clock.timer(timeout, () => fail(`did not end within ${timeout / 1_000} s (service.timeout)`));
    child.stdout.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxOutput) fail(`printed more than ${maxOutput} bytes`);
      else chunks.push(chunk);
    });
    child.on('error', (error) => fail(`could not be run (${codeOf(error) ?? 'unknown'})`));
    child.on('close', (status, signal) => {
      if (status !== 0) fail(status === null ? `was ended by ${signal ?? 'a signal'}` : `ended with status ${status}`);
      cancel();
      resolve(Buffer.concat(chunks).toString('utf8'));
    });
  });
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}
