/** What the tap noted: every change of a folder, every sync and every answer, in the one order in which they happened. */
import { readFileSync } from 'node:fs';

export type Note =
  | { readonly kind: 'made' | 'unlinked' | 'synced' | 'folder synced'; readonly path: string }
  | { readonly kind: 'written'; readonly path: string; readonly at: number; readonly data: Buffer }
  | { readonly kind: 'truncated'; readonly path: string; readonly size: number }
  | { readonly kind: 'renamed'; readonly path: string; readonly to: string }
  /** A 2xx left a process, to the port of the other side. */
  | { readonly kind: 'answered'; readonly process: number; readonly port: number }
  | { readonly kind: 'failed'; readonly path: string; readonly what: string };

const headSize = 15;

export function readNotes(log: string): Note[] {
  const bytes = readFileSync(log);
  const notes: Note[] = [];
  for (let at = 0; at < bytes.length;) {
    const kind = String.fromCharCode(bytes[at]!);
    const pathEnd = at + headSize + bytes.readUInt16LE(at + 1);
    const dataEnd = pathEnd + bytes.readUInt32LE(at + 3);
    const position = Number(bytes.readBigInt64LE(at + 7));
    const path = bytes.toString('utf8', at + headSize, pathEnd);
    notes.push(noteOf(kind, path, position, bytes.subarray(pathEnd, dataEnd)));
    at = dataEnd;
  }
  return notes;
}

function noteOf(kind: string, path: string, position: number, data: Buffer): Note {
  switch (kind) {
    case 'o':
      return { kind: 'made', path };
    case 'u':
      return { kind: 'unlinked', path };
    case 's':
      return { kind: 'synced', path };
    case 'd':
      return { kind: 'folder synced', path };
    case 'w':
      return { kind: 'written', path, at: position, data };
    case 't':
      return { kind: 'truncated', path, size: position };
    case 'r':
      return { kind: 'renamed', path, to: data.toString('utf8') };
    case 'a':
      return { kind: 'answered', process: data.readInt32LE(), port: position };
    case 'x':
      return { kind: 'failed', path, what: data.toString('utf8') };
    default:
      throw new Error(`The tap noted ${JSON.stringify(kind)}.`);
  }
}
