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

/** A world that is kept in a file. */
export class WorldFile implements Memory {
  readonly id: string;
  readonly seed: string;
  readonly token: string;
  readonly records: World['records'];
  readonly starts: number;
  readonly entries: readonly Entry[];
  readonly #path: string;
  readonly #heading: Heading;
  /** The latest entry about each thing, those that changed last at the end. */
  readonly #latest = new Map<string, Entry>();
  #file: number;
  /** Bytes of the file, and at how many it is rewritten. */
  #size = 0;
  #limit = 0;
  #isOpen = true;

  constructor(path: string, heading: Heading & { readonly token: string }, entries: readonly Entry[]) {
    this.#path = path;
    this.#heading = heading;
    for (const entry of entries) this.#keep(entry);
    this.#file = this.#rewritten();
    this.id = heading.id;
    this.seed = heading.seed;
    this.token = heading.token;
    this.records = heading.records ?? 'odd';
    this.starts = heading.life;
    this.entries = entries;
  }

  readonly write = (entry: Entry): void => {
    if (!this.#isOpen) return;
    try {
      this.#size += append(this.#file, entry);
    } catch (error) {
      // No half of a line is left.
      ftruncateSync(this.#file, this.#size);
      throw error;
    }
    this.#keep(entry);
    if (this.#size <= this.#limit) return;
    try {
      const old = this.#file;
      this.#file = this.#rewritten();
      closeSync(old);
    } catch {
      // Where there is no room for it, the file stays as it is, and is tried again when it has grown by as much once more.
      this.#limit = 2 * this.#size;
    }
  };

  close(): void {
    this.#isOpen = false;
    closeSync(this.#file);
  }

  #keep(entry: Entry): void {
    const name = nameOf(entry);
    this.#latest.delete(name);
    if (!isOver(entry)) this.#latest.set(name, entry);
  }

  /** A new file with one line for each thing, which takes the place of the one at the path when it is whole. */
  #rewritten(): number {
    const draft = `${this.#path}.draft`;
    // A new file: neither what an interrupted start left, nor what a link of another leads to.
    rmSync(draft, { force: true });
    const file = openSync(draft, 'wx', mode);
    try {
      keepOwner(file, this.#path);
      let size = append(file, this.#heading);
      for (const entry of this.#latest.values()) size += append(file, entry);
      renameSync(draft, this.#path);
      this.#size = size;
      this.#limit = Math.max(maxGrowth * size, minRewritten);
      return file;
    } catch (error) {
      closeSync(file);
      rmSync(draft, { force: true });
      throw error;
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

/** Writes a line. @returns how many bytes it has. */
function append(file: number, value: Heading | Entry): number {
  const line = Buffer.from(`${JSON.stringify(value)}\n`);
  for (let done = 0; done < line.length;) done += writeSync(file, line, done, line.length - done);
  return line.length;
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
