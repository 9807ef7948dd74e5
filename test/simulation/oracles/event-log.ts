/** Everything that was ever true of every vendor of an account, as the service itself knows it, hidden version numbers and all. */
import type { Sandbox } from '../../../src/sandbox/service.ts';
import type { VendorService } from '../../../src/sandbox/vendors/vendor-service.ts';
import type { Timeline } from '../machine/timeline.ts';

/** One version of a vendor. */
export interface LogEntry {
  /** From when on it was true, in milliseconds of the timeline. */
  readonly at: number;
  readonly version: number;
  readonly state: 0 | 1 | 2 | 'vanished';
  /** Its content; undefined where it vanished. */
  readonly key: string | undefined;
}

/** A vendor's note, as only a read by id shows it in most worlds. */
interface Note {
  /** From when on it was true, in milliseconds of the timeline. */
  readonly at: number;
  readonly text: string | null;
}

export class EventLog {
  readonly #entries = new Map<number, LogEntry[]>();
  readonly #notes = new Map<number, Note[]>();
  readonly #timeline: Timeline;
  readonly #vendorService: VendorService;
  /** Vendors that were changed twice or more within one second. */
  readonly doubles = new Set<number>();

  constructor(account: string, sandbox: Sandbox, timeline: Timeline) {
    this.#timeline = timeline;
    this.#vendorService = sandbox.vendors(account);
    for (const wire of this.#vendorService.all()) this.#write(Number(wire['vendorid']), 1);
    sandbox.onChange((change) => {
      if (change.account === account) this.#write(change.vendorid, change.version);
    });
  }

  /** Vendors that there are or were. */
  get vendors(): readonly number[] {
    return [...this.#entries.keys()];
  }

  of(vendorid: number): readonly LogEntry[] {
    return this.#entries.get(vendorid) ?? [];
  }

  /** Which entry of a vendor was true at a moment; -1 where it was not there yet. */
  at(vendorid: number, moment: number): number {
    return this.of(vendorid).findLastIndex((entry) => entry.at <= moment);
  }

  /** Each note that was true of a vendor at a moment or later. */
  notesSince(vendorid: number, moment: number): ReadonlySet<string | null> {
    const notes = this.#notes.get(vendorid) ?? [];
    const first = notes.findLastIndex(({ at }) => at <= moment);
    return new Set(notes.slice(Math.max(0, first)).map(({ text }) => text));
  }

  #write(vendorid: number, version: number): void {
    const at = this.#timeline.now;
    const entries = this.#entries.get(vendorid) ?? [];
    this.#entries.set(vendorid, entries);
    const before = entries.at(-1);
    if (before && before.version > 0 && Math.floor(before.at / 1_000) === Math.floor(at / 1_000))
      this.doubles.add(vendorid);
    const record = this.#vendorService.find(vendorid, 0);
    if (version === 0 || typeof record !== 'object') {
      entries.push({ at, version, state: 'vanished', key: undefined });
      return;
    }
    const single = this.#vendorService.wire(record, 'single');
    const notes = this.#notes.get(vendorid) ?? [];
    this.#notes.set(vendorid, notes);
    const text = (single['note'] ?? null) as string | null;
    if (notes.length === 0 || notes.at(-1)!.text !== text) notes.push({ at, text });
    const key = contentKey(single);
    // What cannot be seen is not a change.
    if (key !== before?.key) entries.push({ at, version, state: record.state, key });
  }
}

/**
 * A record's content, its keys in the order in which the service sends them; without the note, which not every answer carries, and which has a
 * history of its own.
 */
export function contentKey(wire: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ ...wire, note: undefined });
}
