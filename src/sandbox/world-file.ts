/**
 * The file in which a sandbox keeps its world: a first line that identifies the world, then a line of JSON for each thing that
 * changed. It is rewritten, with one line for each thing, whenever it is opened.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, fchownSync, openSync, readFileSync, renameSync, statSync, writeSync } from 'node:fs';
import { MirrorError } from '../domain/errors.ts';
import type { Entry, Memory } from './core/memory.ts';
import { defaultWorld, type World } from './core/worlds.ts';

interface Heading {
  readonly sandbox: 1;
  readonly id: string;
  readonly seed: string;
  /** What its vendors are like; files of version 0.2.0 and older, whose vendors are odd, do not say it. */
  readonly records?: World['records'];
  /** How often the sandbox was started with this file. */
  readonly life: number;
}

/** Only for the owner: it holds tokens and the codes of callbacks. */
const mode = 0o600;

/**
 * Opens a world to continue with it, or creates a new one from `seed` with such `records`. No other process may have it open.
 * @throws MirrorError `file_unwritable`, also for a file that is something else.
 */
export function openWorldFile(path: string, seed: string, records: World['records'] = defaultWorld.records): WorldFile {
  try {
    const { heading, entries } = readWorld(path) ?? { heading: newHeading(seed, records), entries: [] };
    return new WorldFile(path, { ...heading, life: heading.life + 1 }, entries);
  } catch (error) {
    if (error instanceof MirrorError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new MirrorError('file_unwritable', `The sandbox cannot keep its world in ${path}: ${reason}.`, {
      cause: error,
    });
  }
}

/** A world that is kept in a file, which is rewritten when it is opened. */
export class WorldFile implements Memory {
  readonly id: string;
  readonly seed: string;
  readonly records: World['records'];
  readonly starts: number;
  readonly entries: readonly Entry[];
  readonly #file: number;
  #isOpen = true;

  constructor(path: string, heading: Heading, entries: readonly Entry[]) {
    const draft = `${path}.draft`;
    this.#file = openSync(draft, 'w', mode);
    keepOwner(this.#file, path);
    for (const line of [heading, ...entries]) writeSync(this.#file, `${JSON.stringify(line)}\n`);
    renameSync(draft, path);
    this.id = heading.id;
    this.seed = heading.seed;
    this.records = heading.records ?? 'odd';
    this.starts = heading.life;
    this.entries = entries;
  }

  readonly write = (entry: Entry): void => {
    if (this.#isOpen) writeSync(this.#file, `${JSON.stringify(entry)}\n`);
  };

  close(): void {
    this.#isOpen = false;
    closeSync(this.#file);
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
  const lines = linesOf(path);
  if (!lines) return undefined;
  const [heading, ...entries] = lines.map(parse);
  if (!isHeading(heading)) throw new MirrorError('file_unwritable', `${path} is not a sandbox world.`);
  const latest = new Map<string, Entry>();
  for (const entry of entries) {
    if (entry === undefined) break;
    const name = nameOf(entry as Entry);
    // What changed last comes last.
    latest.delete(name);
    latest.set(name, entry as Entry);
  }
  return { heading, entries: [...latest.values()] };
}

/** The whole lines of a file; undefined where there is none. A process that was killed may have left half a line at the end. */
function linesOf(path: string): string[] | undefined {
  try {
    const lines = readFileSync(path, 'utf8').split('\n');
    return lines.slice(0, -1);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
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
