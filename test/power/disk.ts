/**
 * A disk that forgets: it replays what the tap noted, and says what could be on it if the power failed now. What was synced is there.
 * Of the rest, each sector of 512 bytes may be there or not, in any order, and changes of names up to some moment: a journalling
 * file system keeps their order, and promises nothing more.
 */
import type { SeededRandom } from '../../src/sandbox/core/random.ts';
import type { Note } from './notes.ts';

const sector = 512;

type Change = { readonly at: number; readonly data: Buffer } | { readonly size: number };
interface Naming {
  readonly path: string;
  readonly file: File | undefined;
}

/** Bytes that grow and shrink. */
class Extent {
  #room: Buffer;
  #length: number;

  constructor(bytes: Buffer) {
    this.#room = Buffer.from(bytes);
    this.#length = bytes.length;
  }

  get bytes(): Buffer {
    return this.#room.subarray(0, this.#length);
  }

  apply(change: Change): void {
    if ('size' in change) {
      this.#resize(change.size);
      return;
    }
    const end = change.at + change.data.length;
    if (end > this.#length) this.#resize(end);
    change.data.copy(this.#room, change.at);
  }

  #resize(size: number): void {
    if (size > this.#room.length) this.#room = Buffer.concat([this.bytes], 2 * size);
    else if (size > this.#length) this.#room.fill(0, this.#length, size);
    this.#length = size;
  }
}

class File {
  readonly #durable: Extent;
  #pending: Change[] = [];

  constructor(bytes: Buffer = Buffer.alloc(0)) {
    this.#durable = new Extent(bytes);
  }

  change(change: Change): void {
    this.#pending.push(change);
  }

  sync(): void {
    for (const change of this.#pending) this.#durable.apply(change);
    this.#pending = [];
  }

  /** What may be left of it. */
  remains(random: SeededRandom, survival: number): Buffer {
    const left = new Extent(this.#durable.bytes);
    for (const change of this.#pending) for (const part of remainsOf(change, random, survival)) left.apply(part);
    return left.bytes;
  }
}

export class Disk {
  readonly #names = new Map<string, File>();
  readonly #durableNames = new Map<string, File>();
  #namings: Naming[] = [];

  /** Files that are there, and durable, from the start. */
  constructor(files: ReadonlyMap<string, Buffer>) {
    for (const [path, bytes] of files) {
      const file = new File(bytes);
      this.#names.set(path, file);
      this.#durableNames.set(path, file);
    }
  }

  replay(note: Note): void {
    switch (note.kind) {
      case 'made': {
        this.#name(note.path, new File());
        return;
      }
      case 'unlinked': {
        this.#name(note.path, undefined);
        return;
      }
      case 'renamed': {
        const file = this.#at(note.path);
        this.#name(note.path, undefined);
        this.#name(note.to, file);
        return;
      }
      case 'written': {
        this.#at(note.path).change({ at: note.at, data: note.data });
        return;
      }
      case 'truncated': {
        this.#at(note.path).change({ size: note.size });
        return;
      }
      case 'synced': {
        this.#at(note.path).sync();
        return;
      }
      case 'folder synced':
        for (const naming of this.#namings) rename(this.#durableNames, naming);
        this.#namings = [];
        return;
      case 'answered':
      case 'failed':
        return;
    }
  }

  /** What could be found after a loss of power now. */
  cut(random: SeededRandom): Map<string, Buffer> {
    const names = new Map(this.#durableNames);
    const lasting = random.pick([0, this.#namings.length, random.below(this.#namings.length + 1)]);
    for (const naming of this.#namings.slice(0, lasting)) rename(names, naming);
    const survival = random.pick([0, 0.1, 0.5, 0.9, 1]);
    return new Map([...names].map(([path, file]) => [path, file.remains(random, survival)]));
  }

  #at(path: string): File {
    const file = this.#names.get(path);
    if (!file) throw new Error(`Nobody made ${path}.`);
    return file;
  }

  #name(path: string, file: File | undefined): void {
    rename(this.#names, { path, file });
    this.#namings.push({ path, file });
  }
}

function rename(names: Map<string, File>, { path, file }: Naming): void {
  if (file) names.set(path, file);
  else names.delete(path);
}

/** The sectors of a change that reached the disk. A new length is kept or lost as one. */
function remainsOf(change: Change, random: SeededRandom, survival: number): Change[] {
  if ('size' in change) return random.happens(survival) ? [change] : [];
  if (survival === 1) return [change];
  if (survival === 0) return [];
  const kept: Change[] = [];
  for (let from = 0; from < change.data.length;) {
    const at = change.at + from;
    const length = Math.min(sector - (at % sector), change.data.length - from);
    if (random.happens(survival)) kept.push({ at, data: change.data.subarray(from, from + length) });
    from += length;
  }
  return kept;
}
