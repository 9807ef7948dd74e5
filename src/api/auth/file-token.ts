/** The access token in a file. */
import { readFile, stat } from 'node:fs/promises';
import { MirrorError } from '../../domain/errors.ts';
import type { Secret } from '../../domain/secret.ts';
import { usableToken, type TokenSource } from './token-source.ts';

/** The largest token file, in bytes. */
const mostBytes = 2 ** 16;

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
    if (!stats.isFile() || stats.size > mostBytes) throw unreadable('it is not a regular file of at most 64 kB');
    return `${stats.mtimeMs} ${stats.size} ${stats.ino}`;
  }
}

async function fromFile<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw unreadable(error instanceof Error && 'code' in error ? String(error.code) : 'unknown error');
  }
}

/** Without the name of the file: the settings may contain the token itself in its place. */
function unreadable(why: string): MirrorError {
  return new MirrorError('unauthenticated', `The file of accessTokenFile cannot be read: ${why}.`);
}
