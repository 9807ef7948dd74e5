/**
 * The file in which a sandbox keeps its world: a line of JSON for each thing that changed, behind a line that says whose world it
 * is. It is written anew, with one line a thing, whenever it is opened.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { MirrorError } from '../domain/errors.ts';
import type { Entry, Memory } from './core/memory.ts';

export interface WorldFile extends Memory {
  close(): void;
}

interface Heading {
  readonly sandbox: 1;
  readonly id: string;
  readonly seed: string;
  readonly life: number;
}

/** For its owner alone: it holds tokens and the codes of callbacks. */
const mode = 0o600;

/**
 * Opens a world to go on with it, or makes a new one from `seed`. Nobody else may have it open.
 * @throws MirrorError `file_unwritable`, also for a file that is something else.
 */
export function openWorldFile(path: string, seed: string): WorldFile {
  try {
    const found = readWorld(path);
    const { heading, entries } = found ?? { heading: newHeading(seed), entries: [] };
    const current = { ...heading, life: heading.life + 1 };
    const draft = `${path}.draft`;
    const file = openSync(draft, 'w', mode);
    for (const line of [current, ...entries]) writeSync(file, `${JSON.stringify(line)}\n`);
    renameSync(draft, path);
    let isOpen = true;
    const { id, life } = current;
    return {
      id,
      seed: current.seed,
      life,
      entries,
      write(entry) {
        if (isOpen) writeSync(file, `${JSON.stringify(entry)}\n`);
      },
      close() {
        isOpen = false;
        closeSync(file);
      },
    };
  } catch (error) {
    if (error instanceof MirrorError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new MirrorError('file_unwritable', `The sandbox cannot keep its world in ${path}: ${reason}.`, {
      cause: error,
    });
  }
}

function newHeading(seed: string): Heading {
  return { sandbox: 1, id: randomBytes(8).toString('hex'), seed, life: 0 };
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
