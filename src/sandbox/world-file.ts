/**
 * The file in which a sandbox keeps its world: a first line that identifies the world, then a line of JSON for each thing that
 * changed. It is rewritten, with one line for each thing, whenever it is opened, and when it has grown to four times of that: so it is
 * bounded by what it keeps, however long its sandbox runs. What is rewritten takes the file's place when it is whole.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fchownSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { MirrorError } from '../domain/errors.ts';
import type { Entry, Memory } from './core/memory.ts';
import { defaultWorld, type World } from './core/worlds.ts';

interface Heading {
  readonly sandbox: 1;
  readonly id: string;
  readonly seed: string;
  /** The access token of its starts; files of version 0.2.0 and older have none, but that of their last start among the entries. */
  readonly token?: string;
  /** What its vendors are like; files of version 0.2.0 and older, whose vendors are odd, do not say it. */
  readonly records?: World['records'];
  /** How often the sandbox was started with this file. */
  readonly life: number;
}

/** Only for the owner: it holds tokens and the codes of callbacks. */
const mode = 0o600;

/** A file is rewritten at so many times of what it keeps, and at no less than so many bytes. */
const [maxGrowth, minRewritten] = [4, 65_536];

const chunkSize = 1_048_576;

/**
 * Opens a world to continue with it, or creates a new one from `seed` with such `records`. No other process may have it open. Its access
 * token is `token`, or else that of the last start, or else a new one.
 * @throws MirrorError `file_unwritable`, also for a file that is something else.
 */
export function openWorldFile(
  path: string,
  seed: string,
  records: World['records'] = defaultWorld.records,
  token?: string,
): WorldFile {
  try {
    const { heading, entries } = readWorld(path) ?? { heading: newHeading(seed, records), entries: [] };
    const kept = heading.token === undefined ? entries.filter((entry) => !isForEver(entry)) : entries;
    const asked = token ?? heading.token ?? newToken();
    return new WorldFile(path, { ...heading, token: asked, life: heading.life + 1 }, kept);
  } catch (error) {
    if (error instanceof MirrorError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new MirrorError('file_unwritable', `The sandbox cannot keep its world in ${path}: ${reason}.`, {
      cause: error,
    });
  }
}

/** A token that nobody knows. */
export function newToken(): string {
  return randomBytes(16).toString('hex');
}

/** Whether this is the access token of an older version, which everybody knows. */
function isForEver(entry: Entry): boolean {
  return entry.kind === 'token' && entry.value !== null && entry.value.expires === undefined;
}

/** Whether nothing of it has to be known: a token that is not in the file is as invalid as one that was withdrawn. */
function isOver(entry: Entry): boolean {
  return (entry.kind === 'token' || entry.kind === 'refresh') && entry.value === null;
}

/** Where a line stands in a file. */
interface Place {
  readonly at: number;
  readonly length: number;
}

/** A world that is kept in a file. */
export class WorldFile implements Memory {
  readonly id: string;
  readonly seed: string;
  readonly token: string;
  readonly records: World['records'];
  readonly starts: number;
  readonly entries: readonly Entry[];
  readonly #path: string;
  /** Where the latest line about each thing stands, in the order of the file. */
  readonly #places = new Map<string, Place>();
  #file: number;
  /** Bytes of the file, and of the lines that count. */
  #size = 0;
  #live = 0;
  /** At how many bytes it is rewritten. */
  #limit = 0;
  #isOpen = true;

  constructor(path: string, heading: Heading & { readonly token: string }, entries: readonly Entry[]) {
    this.#path = path;
    this.#file = this.#draft();
    this.#append('', lineOf(heading));
    for (const entry of entries) if (!isOver(entry)) this.#append(nameOf(entry), lineOf(entry));
    this.#publish();
    this.id = heading.id;
    this.seed = heading.seed;
    this.token = heading.token;
    this.records = heading.records ?? 'odd';
    this.starts = heading.life;
    this.entries = entries;
  }

  readonly write = (entry: Entry): void => {
    if (!this.#isOpen) return;
    const name = nameOf(entry);
    this.#append(name, lineOf(entry));
    if (isOver(entry)) {
      this.#live -= this.#places.get(name)?.length ?? 0;
      this.#places.delete(name);
    }
    if (this.#size > this.#limit) this.#rewrite();
  };

  close(): void {
    this.#isOpen = false;
    closeSync(this.#file);
  }

  /** An empty file that is to take the place of the one at the path. */
  #draft(): number {
    const draft = `${this.#path}.draft`;
    // A new file: neither what an interrupted start left, nor what a link of another leads to.
    rmSync(draft, { force: true });
    const file = openSync(draft, 'wx+', mode);
    keepOwner(file, this.#path);
    return file;
  }

  /** Puts the draft in its place. */
  #publish(): void {
    renameSync(`${this.#path}.draft`, this.#path);
    this.#limit = Math.max(maxGrowth * this.#live, minRewritten);
  }

  /** Adds a line about a thing, in place of an earlier one. Leaves no half of it where it fails. */
  #append(name: string, line: Uint8Array): void {
    try {
      for (let done = 0; done < line.length;) done += writeSync(this.#file, line, done, line.length - done);
    } catch (error) {
      ftruncateSync(this.#file, this.#size);
      throw error;
    }
    this.#live += line.length - (this.#places.get(name)?.length ?? 0);
    // What changed last comes last.
    this.#places.delete(name);
    this.#places.set(name, { at: this.#size, length: line.length });
    this.#size += line.length;
  }

  /** Where there is no room for it, the file stays as it is, and is tried again when it has grown by as much once more. */
  #rewrite(): void {
    const [old, size] = [this.#file, this.#size];
    const places = [...this.#places];
    try {
      this.#file = this.#draft();
      this.#size = this.#live = 0;
      this.#places.clear();
      for (const [name, place] of places) this.#append(name, bytesAt(old, place));
      this.#publish();
      closeSync(old);
    } catch {
      if (this.#file !== old) {
        closeSync(this.#file);
        rmSync(`${this.#path}.draft`, { force: true });
      }
      this.#file = old;
      this.#size = size;
      this.#places.clear();
      for (const [name, place] of places) this.#places.set(name, place);
      this.#live = places.reduce((sum, [, { length }]) => sum + length, 0);
      this.#limit = 2 * size;
    }
  }
}

/** Gives a new file the owner of the one at `path`: a command of root must not lock out the daemon of another user. */
function keepOwner(file: number, path: string): void {
  const before = statSync(path, { throwIfNoEntry: false });
  if (before && before.uid !== process.getuid?.()) fchownSync(file, before.uid, before.gid);
}

function newHeading(seed: string, records: World['records']): Heading {
  return { sandbox: 1, id: randomBytes(8).toString('hex'), seed, records, life: 0 };
}

function readWorld(path: string): { heading: Heading; entries: Entry[] } | undefined {
  if (!existsSync(path)) return undefined;
  let heading: unknown;
  const latest = new Map<string, Entry>();
  for (const line of linesOf(path)) {
    const value = parse(line);
    heading ??= value;
    if (value === undefined || !isHeading(heading)) break;
    if (value === heading) continue;
    const name = nameOf(value as Entry);
    // What changed last comes last.
    latest.delete(name);
    latest.set(name, value as Entry);
  }
  if (!isHeading(heading)) throw new MirrorError('file_unwritable', `${path} is not a sandbox world.`);
  return { heading, entries: [...latest.values()] };
}

/** The whole lines of a file, of which no more than one is in memory. A process that was killed may have left half a line at the end. */
function* linesOf(path: string): Generator<string> {
  const file = openSync(path, 'r');
  try {
    const chunk = Buffer.allocUnsafe(chunkSize);
    let rest = Buffer.alloc(0);
    for (let length = 1; length > 0;) {
      length = readSync(file, chunk, 0, chunkSize, null);
      const bytes = Buffer.concat([rest, chunk.subarray(0, length)]);
      let begin = 0;
      for (let end = bytes.indexOf('\n'); end >= 0; end = bytes.indexOf('\n', begin)) {
        yield bytes.toString('utf8', begin, end);
        begin = end + 1;
      }
      rest = bytes.subarray(begin);
    }
  } finally {
    closeSync(file);
  }
}

function bytesAt(file: number, { at, length }: Place): Uint8Array {
  const bytes = Buffer.allocUnsafe(length);
  for (let done = 0; done < length;) {
    const read = readSync(file, bytes, done, length - done, at + done);
    if (read === 0) throw new Error('The file is shorter than what was written to it.');
    done += read;
  }
  return bytes;
}

function lineOf(value: Heading | Entry): Uint8Array {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function isHeading(value: unknown): value is Heading {
  return typeof value === 'object' && value !== null && 'sandbox' in value && value.sandbox === 1;
}

function nameOf(entry: Entry): string {
  return [entry.kind, 'account' in entry ? entry.account : '', 'key' in entry ? entry.key : ''].join('/');
}
