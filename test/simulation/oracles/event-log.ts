/** Everything that was ever true of every vendor of an account, as the service itself knows it, hidden version numbers and all. */
import type { Sandbox } from '../../../src/sandbox/service.ts';
import type { VendorService } from '../../../src/sandbox/vendors/vendor-service.ts';
import type { World } from '../../../src/sandbox/core/worlds.ts';
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

/** All that a read by id would have shown of a vendor. */
export interface WholeRecord {
  /** From when on it was true, in milliseconds of the timeline. */
  readonly at: number;
  readonly state: LogEntry['state'];
  readonly json: string;
}

/** A value that lists leave out or show otherwise, as a read by id shows it. */
interface Detail {
  /** From when on it was true, in milliseconds of the timeline. */
  readonly at: number;
  readonly json: string;
}

/** The fields of which lists may show something else than reads by id. */
export function detailFields({ listedAs, listedField }: World): readonly string[] {
  return listedAs === 'whole' || listedField === 'note' ? ['note'] : ['note', listedField];
}

/** A value of a record as JSON; what says nothing is null. */
export function detailOf(wire: Readonly<Record<string, unknown>>, field: string): string {
  const value = wire[field] ?? null;
  return JSON.stringify(Array.isArray(value) && value.length === 0 ? null : value);
}

export class EventLog {
  readonly #entries = new Map<number, LogEntry[]>();
  readonly #records = new Map<number, WholeRecord[]>();
  readonly #details = new Map<string, Detail[]>();
  readonly #timeline: Timeline;
  readonly #vendorService: VendorService;
  readonly #fields: readonly string[];
  /** Vendors that were changed twice or more within one second. */
  readonly doubles = new Set<number>();

  constructor(account: string, sandbox: Sandbox, timeline: Timeline) {
    this.#timeline = timeline;
    this.#fields = detailFields(sandbox.world);
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

  /** All that was ever true of a vendor, oldest first. */
  records(vendorid: number): readonly WholeRecord[] {
    return this.#records.get(vendorid) ?? [];
  }

  /** Each value of a field of `detailFields`, as JSON, that was true of a vendor at a moment or later. */
  detailsSince(vendorid: number, field: string, moment: number): ReadonlySet<string> {
    const values = this.#details.get(`${vendorid} ${field}`) ?? [];
    const first = values.findLastIndex(({ at }) => at <= moment);
    return new Set(values.slice(Math.max(0, first)).map(({ json }) => json));
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
      this.#records.get(vendorid)?.push({ at, state: 'vanished', json: '' });
      return;
    }
    const single = this.#vendorService.wire(record, 'single');
    const records = this.#records.get(vendorid) ?? [];
    this.#records.set(vendorid, records);
    records.push({ at, state: record.state, json: JSON.stringify(single) });
    for (const field of this.#fields) {
      const values = this.#details.get(`${vendorid} ${field}`) ?? [];
      this.#details.set(`${vendorid} ${field}`, values);
      const json = detailOf(single, field);
      if (values.at(-1)?.json !== json) values.push({ at, json });
    }
    const key = contentKey(single, this.#fields);
    // What cannot be seen is not a change.
    if (key !== before?.key) entries.push({ at, version, state: record.state, key });
  }
}

/**
 * A record's content, its keys in the order in which the service sends them; without the `details`, which not every answer carries as they are,
 * and which have a history of their own.
 */
export function contentKey(wire: Readonly<Record<string, unknown>>, details: readonly string[]): string {
  return JSON.stringify({ ...wire, ...Object.fromEntries(details.map((field) => [field, undefined])) });
}
