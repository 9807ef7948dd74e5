/** Access tokens from a command, such as a password manager's. */
import { spawn } from 'node:child_process';
import type { Clock } from '../../domain/clock.ts';
import { MirrorError } from '../../domain/errors.ts';
import type { Secret } from '../../domain/log.ts';
import { SingleFlight } from '../../domain/async/single-flight.ts';
import { usableToken, type TokenSource } from './token-source.ts';

/** A string is run by the shell, a list directly. */
export type TokenCommand = string | readonly string[];

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
const mostOutput = 2 ** 16;

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
    throw new MirrorError('unauthenticated', `${origin} begins with { but is not JSON.`);
  }
}

/**
 * The standard output of the command. Its standard error is discarded, because it may contain a secret too.
 * @throws MirrorError `unauthenticated`, with nothing of the output in its message.
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
      reject(new MirrorError('unauthenticated', `The command of accessTokenCommand ${why}.`));
    };
    const cancel = clock.timer(timeout, () => fail(`did not end within ${timeout / 1_000} s (service.timeout)`));
    child.stdout.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > mostOutput) fail(`printed more than ${mostOutput} bytes`);
      else chunks.push(chunk);
    });
    child.on('error', (error) => fail(`could not be run (${'code' in error ? String(error.code) : 'unknown'})`));
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
