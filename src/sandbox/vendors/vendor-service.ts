/** Changes the vendors of an account, as the API or the service's own interface does, and announces events. */
import type { Clock } from '../../domain/clock.ts';
import type { SeededRandom } from '../core/random.ts';
import { invalid, type Refusal } from '../core/reply.ts';
import {
  vendorOnWire,
  writableTexts,
  type Money,
  type State,
  type VendorRecord,
  type Wire,
  type WritableText,
  systemTax,
  type SystemTax,
} from '../core/vendor-record.ts';
import type { World } from '../core/worlds.ts';
import { firstTimes, aged, gone, unreadable, VendorBook, type BookOptions, type BookView } from './vendor-book.ts';
import { reversed, sequenceOf, UpdateOrder, type Sequence } from './list-page.ts';

/** How long lists show a deleted vendor where they do so for a while, in milliseconds. */
const recentlyDeleted = 600_000;

/** How much older lists show a field in some worlds, in milliseconds. */
export const olderInLists = 4_000;

/** Called after a change of a vendor. `version` counts its writes from 1, and is 0 if it vanished. */
export type OnChange = (vendorid: number, version: number) => void;

export class VendorService {
  readonly #book: VendorBook;
  readonly #updates: UpdateOrder;
  readonly #world: World;
  readonly #clock: Clock;
  readonly #announce: (event: string, vendorid: number) => void;
  readonly #onChange: OnChange;
  /** Records as they were sent. */
  readonly #wires = { list: new WeakMap<VendorRecord, Wire>(), single: new WeakMap<VendorRecord, Wire>() };

  constructor(
    options: BookOptions,
    world: World,
    clock: Clock,
    announce: (event: string, vendorid: number) => void,
    onChange: OnChange,
  ) {
    this.#book = new VendorBook(options);
    this.#world = world;
    this.#clock = clock;
    this.#announce = announce;
    this.#onChange = onChange;
    // Other orders need no sorting.
    const sorted = world.order === 'updated' || world.order === 'updated_newest' ? options.count : 0;
    this.#updates = new UpdateOrder(sorted, (index) => firstTimes(options.seed, index, options.count).updated);
    const updated = (options.changed ?? []).flatMap(([index, entry]) =>
      entry ? [{ index, at: entry.record.updated }] : [],
    );
    for (const { index } of updated.sort((a, b) => a.at - b.at)) this.#updates.touch(index);
  }

  /** What its vendors are like, new ones and changes of old ones too. */
  get records(): World['records'] {
    return this.#book.records;
  }

  /** Every vendor, deleted ones too, as a read by id would show it; without unreadable ones. */
  all(): Wire[] {
    return this.#allAs('single');
  }

  /** The same as a list would show it. */
  listed(): Wire[] {
    return this.#allAs('list');
  }

  /** Enters a vendor, active; `fields` are those of a `bill_vendor` body. Returns it as a read by id would. */
  create(fields: Wire): Wire {
    const wish = tidied(readVendorInput(fields), this.#world.tidies);
    const now = this.#clock.now();
    const { index, record } = this.#book.add(now, (vendorid) => ({
      vendorid,
      texts: { currency_code: 'USD', ...wish.texts },
      is1099: wish.is1099 ?? false,
      state: 0,
      taxes: taxesFrom(wish, now),
      outstanding: [],
      overdue: [],
      created: now,
      updated: now,
    }));
    this.#updates.touch(index);
    this.#onChange(record.vendorid, 1);
    this.#announce('bill_vendor.create', record.vendorid);
    return this.wire(record, 'single');
  }

  /**
   * Changes the fields that are given; with a `vis_state` among them, that one alone, unless this world applies all. Returns the
   * vendor as a read by id would, or undefined if there is none.
   */
  edit(id: number, fields: Wire): Wire | undefined {
    const wish = tidied(readVendorInput(fields), this.#world.tidies);
    const now = this.#clock.now();
    const others = Object.keys(fields).some((key) => key !== 'vis_state') && this.#world.editState === 'all';
    const moved = wish.state === undefined ? [] : this.#eventsOfState(id, wish.state);
    const events = wish.state === undefined || others ? [...new Set(['update', ...moved])] : moved;
    return this.#change(id, events, (held) => {
      if (wish.state !== undefined && !others) return { ...held, state: wish.state, updated: now };
      return {
        ...held,
        state: wish.state ?? held.state,
        texts: { ...held.texts, ...wish.texts },
        is1099: wish.is1099 ?? held.is1099,
        taxes: wish.taxes ? taxesFrom(wish, now) : held.taxes,
        updated: now,
      };
    });
  }

  archive(id: number): Wire | undefined {
    return this.edit(id, { vis_state: 2 });
  }

  delete(id: number): Wire | undefined {
    return this.edit(id, { vis_state: 1 });
  }

  restore(id: number): Wire | undefined {
    return this.edit(id, { vis_state: 0 });
  }

  /** A bill moves a balance: no event, and `updated_at` stays. */
  setBalance(id: number, kind: 'outstanding' | 'overdue', amounts: readonly Money[]): Wire | undefined {
    return this.#change(id, [], (held) => ({ ...held, [kind]: amounts }));
  }

  /** As `setBalance`, both at once. */
  setBalances(id: number, balances: Pick<VendorRecord, 'outstanding' | 'overdue'>): Wire | undefined {
    return this.#change(id, [], (held) => ({ ...held, ...balances }));
  }

  /** Removes the vendor without a trace or an event: 404 by id. */
  vanish(id: number): void {
    const index = this.#present(id);
    if (index === undefined) return;
    this.#book.remove(this.#clock.now(), index);
    this.#onChange(id, 0);
  }

  /** The token may no longer read the vendor: lists count it and do not show it. Without an event. */
  withhold(id: number): void {
    this.#setWithheld(id, true);
  }

  /** The token may read the vendor again. */
  release(id: number): void {
    this.#setWithheld(id, false);
  }

  /** How often the vendor has been written, from 1; undefined if there is none. */
  version(id: number): number | undefined {
    const index = this.#present(id);
    return index === undefined ? undefined : this.#book.version(index);
  }

  /** The id of some vendor; undefined if a few draws find none. */
  someId(random: SeededRandom): number | undefined {
    const { marks, record } = this.#book.now();
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const index = random.below(this.#book.length);
      if ((marks[index] ?? gone) < unreadable) return record(index).vendorid;
    }
    return undefined;
  }

  /** The account's vendors as a copy shows them that is `age` milliseconds behind. */
  view(age: number): BookView {
    return this.#book.asOf(this.#clock.now() - age);
  }

  /** The same for lists: in some worlds they show deleted vendors only for a while. */
  listView(age: number): BookView {
    const view = this.view(age);
    if (this.#world.listDeleted !== 'recent') return view;
    const since = this.#clock.now() - age - recentlyDeleted;
    const isAged = (mark: number, index: number): boolean => mark === 1 && view.record(index).updated < since;
    return { ...view, marks: view.marks.map((mark, index) => (isAged(mark, index) ? aged : mark)) };
  }

  /** What such a copy has under this id. */
  find(id: number, age: number): VendorRecord | 'unreadable' | undefined {
    const index = this.#book.indexOf(id);
    if (index === undefined) return undefined;
    const view = this.view(age);
    const mark = view.marks[index] ?? gone;
    if (mark === gone) return undefined;
    return mark === unreadable ? 'unreadable' : view.record(index);
  }

  /** The record as a list of this world sends it, or a read by id. */
  wire(record: VendorRecord, where: 'list' | 'single'): Wire {
    if (where === 'list' && this.#world.listedAs === 'older') {
      const before = this.find(record.vendorid, olderInLists);
      return vendorOnWire(record, this.#world, where, typeof before === 'object' ? before : record);
    }
    const known = this.#wires[where].get(record);
    if (known) return known;
    const wire = vendorOnWire(record, this.#world, where);
    this.#wires[where].set(record, wire);
    return wire;
  }

  /** The order of this world's list, now. */
  sequence(random: SeededRandom): Sequence {
    const { order } = this.#world;
    if (order === 'updated') return this.#updates;
    if (order === 'updated_newest') return reversed(this.#updates);
    return sequenceOf(order, this.#book.length, random);
  }

  #allAs(where: 'list' | 'single'): Wire[] {
    const { marks, record } = this.#book.now();
    const wires: Wire[] = [];
    for (const [index, mark] of marks.entries()) if (mark < unreadable) wires.push(this.wire(record(index), where));
    return wires;
  }

  #setWithheld(id: number, isWithheld: boolean): void {
    const index = this.#book.indexOf(id);
    const mark = index === undefined ? gone : (this.#book.now().marks[index] ?? gone);
    if (index === undefined || mark === gone || (mark === unreadable) === isWithheld) return;
    this.#book.withhold(this.#clock.now(), index, isWithheld);
    this.#onChange(id, this.#book.version(index));
  }

  #present(id: number): number | undefined {
    const index = this.#book.indexOf(id);
    if (index === undefined) return undefined;
    return (this.#book.now().marks[index] ?? gone) < unreadable ? index : undefined;
  }

  #change(id: number, events: readonly string[], edit: (held: VendorRecord) => VendorRecord): Wire | undefined {
    const index = this.#present(id);
    if (index === undefined) return undefined;
    const held = this.#book.now().record(index);
    const record = edit(held);
    this.#book.replace(this.#clock.now(), index, record);
    if (record.updated !== held.updated) this.#updates.touch(index);
    this.#onChange(id, this.#book.version(index));
    for (const event of events) this.#announce(`bill_vendor.${event}`, id);
    return this.wire(record, 'single');
  }

  /** The events of this world when the state of a vendor changes to `state`. */
  #eventsOfState(id: number, state: State): readonly string[] {
    const held = this.find(id, 0);
    if (typeof held !== 'object' || held.state === state) return ['update'];
    const announced = [this.#world.restoreEvent, this.#world.deleteEvent, this.#world.archiveEvent][state];
    if (announced === undefined || announced === 'none') return [];
    return announced === 'both' ? ['update', 'delete'] : [announced];
  }
}

function taxesFrom(wish: VendorInput, now: number): VendorRecord['taxes'] {
  return (wish.taxes ?? []).map(({ tax, enabled, authority }, position) => ({
    ...tax,
    taxid: position * 2 + 1,
    enabled,
    tax_authorityid: authority,
    created: now,
    updated: now,
  }));
}

/** Only what the body named; keys that the service does not know are not here. */
interface VendorInput {
  readonly texts: VendorRecord['texts'];
  readonly is1099?: boolean;
  readonly state?: State;
  readonly taxes?: readonly { readonly tax: SystemTax; readonly enabled: boolean; readonly authority: string | null }[];
}

const maxText = 1_000;

const tidiers: Readonly<Record<Exclude<World['tidies'], 'no' | 'all'>, (name: string) => string>> = {
  blanks: (name) => name.trim().replace(/\s+/g, ' '),
  accents: (name) => name.normalize('NFKD').replace(/\p{M}/gu, '').replaceAll('ß', 'ss'),
  case: (name) => name.toUpperCase(),
  entities: (name) => name.replaceAll('&', '&amp;').replaceAll("'", '&#39;').replaceAll('<', '&lt;'),
  length: (name) => name.slice(0, 20),
};

/** What is entered, with its name as the service keeps it. */
function tidied(wish: VendorInput, tidies: World['tidies']): VendorInput {
  const name = wish.texts.vendor_name;
  if (tidies === 'no' || typeof name !== 'string') return wish;
  const all = tidies === 'all' ? Object.values(tidiers) : [tidiers[tidies]];
  return { ...wish, texts: { ...wish.texts, vendor_name: all.reduce((text, tidy) => tidy(text), name) } };
}

/** Refuses values of the wrong kind (errno 1004), and texts that are too long (1017). */
export function readVendorInput(body: Readonly<Record<string, unknown>>): VendorInput {
  const texts: Partial<Record<WritableText, string | null>> = {};
  for (const key of writableTexts) if (Object.hasOwn(body, key)) texts[key] = readText(key, body[key]);
  return {
    texts,
    ...(Object.hasOwn(body, 'is_1099') ? { is1099: readFlag('is_1099', body['is_1099']) } : {}),
    ...(Object.hasOwn(body, 'vis_state') ? { state: readState(body['vis_state']) } : {}),
    ...(Object.hasOwn(body, 'tax_defaults') ? { taxes: readTaxes(body['tax_defaults']) } : {}),
  };
}

/** Refuses a new vendor that lacks what this world requires (errno 1001). */
export function requireOnCreate({ texts }: VendorInput, world: World): void {
  const required = {
    name: ['vendor_name'],
    name_language: ['vendor_name', 'language'],
    name_language_currency: ['vendor_name', 'language', 'currency_code'],
  } as const;
  for (const key of required[world.required])
    if (!texts[key]) throw invalid(1001, 'bill_vendor', key, `Required field: ${key}.`);
}

function readText(key: WritableText, value: unknown): string | null {
  if (value === null) return null;
  if (typeof value !== 'string') throw wrong(key, value);
  if (value.length > maxText) throw invalid(1017, 'bill_vendor', key, `${key} is too long.`);
  return value;
}

function readFlag(key: string, value: unknown): boolean {
  if (typeof value !== 'boolean') throw wrong(key, value);
  return value;
}

function readState(value: unknown): State {
  const state = typeof value === 'string' && /^\d$/.test(value) ? Number(value) : value;
  if (state === 0 || state === 1 || state === 2) return state;
  throw wrong('vis_state', value);
}

function readTaxes(value: unknown): NonNullable<VendorInput['taxes']> {
  if (!Array.isArray(value)) throw wrong('tax_defaults', value);
  return value.map((item: unknown) => {
    const wish = typeof item === 'object' && item !== null ? (item as Record<string, unknown>) : {};
    const tax = systemTax(wish['system_taxid']);
    if (!tax) throw wrong('system_taxid', wish['system_taxid']);
    const authority = wish['tax_authorityid'];
    return {
      tax,
      enabled: readFlag('enabled', wish['enabled'] ?? true),
      authority: typeof authority === 'string' ? authority : null,
    };
  });
}

function wrong(key: string, value: unknown): Refusal {
  return invalid(1004, 'bill_vendor', key, `Invalid value for ${key}.`, JSON.stringify(value));
}
