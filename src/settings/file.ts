/** Reads settings and secret files, up to a maximum size. */
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { codeOf, MirrorError } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';

/** Largest files, in bytes: a secret, and a backup of secrets. */
const maxSecret = 2 ** 16;
const maxSealed = 2 ** 26;

/** What `-c <(…)` and `-c /dev/stdin` name: a pipe that is open already. One in a folder might wait for its writer for ever. */
const openPipe = /^\/(?:dev\/(?:stdin|fd\/\d+)|proc\/self\/fd\/\d+)$/;

/** The text of a settings file. @throws MirrorError `settings_unreadable`. */
export function readSettingsFile(path: string): string {
  try {
    return readText(path, limits.settingsFile);
  } catch (error) {
    throw new MirrorError('settings_unreadable', `The settings file ${path} cannot be read: ${reasonOf(error)}.`, {
      cause: error,
    });
  }
}

/** The text of a file that holds one secret. @throws where it cannot be read. */
export function readSecretFile(path: string): string {
  return readText(path, maxSecret);
}

/** The text of a backup of secrets; of a file that is none, whatever it holds. @throws where it cannot be read. */
export function readSealedFile(path: string): string {
  return readBytes(path, maxSealed).toString('utf8');
}

function readText(path: string, most: number): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readBytes(path, most));
  } catch (error) {
    if (error instanceof TypeError) throw new UnreadableFile('it is not UTF-8 text');
    throw error;
  }
}

function readBytes(path: string, most: number): Buffer {
  const stats = statSync(path);
  if (!stats.isFile() && !(stats.isFIFO() && openPipe.test(path))) throw new UnreadableFile('it is not a regular file');
  const bytes = Buffer.alloc(most + 1);
  const file = openSync(path, 'r');
  let length = 0;
  try {
    if (fstatSync(file).size > most) throw new UnreadableFile(`it is larger than ${most} bytes`);
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      read = readSync(file, bytes, length, bytes.length - length, null);
  } finally {
    closeSync(file);
  }
  if (length > most) throw new UnreadableFile(`it is larger than ${most} bytes`);
  return bytes.subarray(0, length);
}

class UnreadableFile extends Error {}

/** Why a file could not be read, in a word or two. */
export function reasonOf(error: unknown): string {
  if (error instanceof UnreadableFile) return error.message;
  return codeOf(error) ?? 'for an unknown reason';
}
