/**
 * The vendors as they are: the truth of this service. Records are never changed in place, so that a copy of the map is a copy of the account
 * at a moment; every change is kept in the history and told to who listens.
 */

import type { Chance } from './choices.ts';

export const textFields = [
  'vendor_name',
  'account_number',
  'primary_contact_first_name',
  'primary_contact_last_name',
  'primary_contact_email',
  'phone',
  'street',
  'street2',
  'city',
  'province',
  'postal_code',
  'country',
  'website',
  'currency_code',
  'language',
  'note',
] as const;
export type TextField = (typeof textFields)[number];

export interface Money {
  readonly amount: string;
  readonly code: string;
}

export interface TaxDefault {
  readonly taxid: number;
  readonly system_taxid: number;
  readonly enabled: boolean;
  readonly name: string;
  readonly amount: string;
  readonly tax_authorityid: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface Vendor {
  readonly id: number;
  readonly texts: Readonly<Partial<Record<TextField, string>>>;
  readonly is1099: boolean;
  readonly visState: 0 | 1 | 2;
  readonly outstanding: readonly Money[];
  readonly overdue: readonly Money[];
  readonly taxDefaults: readonly TaxDefault[];
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Of its deletion, if it is deleted: some lists show it for a while. */
  readonly deletedAt?: number;
}

export type Kind = 'create' | 'update' | 'delete' | 'balance';

export interface Change {
  readonly at: number;
  readonly id: number;
  readonly kind: Kind;
  /** The record after the change; undefined when it was erased. */
  readonly vendor: Vendor | undefined;
}

type Edit = Partial<Pick<Vendor, 'texts' | 'is1099' | 'visState' | 'outstanding' | 'overdue' | 'taxDefaults'>>;

const names = [
  'Baker & Søn',
  'Tools, Ltd',
  'Zebra "Prints"',
  'Ångström',
  '東京紙業',
  "O'Neill",
  'Wood: cut',
  'Plain',
  '<b>Bold</b>',
  '🚚 Cargo',
];

export class Records {
  readonly history: Change[] = [];
  /** Vendors whose balances or tax defaults moved since a read by id last showed them. */
  readonly movedUnread = new Set<number>();
  readonly #vendors = new Map<number, Vendor>();
  readonly #now: () => number;
  readonly #listeners: ((change: Change) => void)[] = [];
  #nextId: number;
  #nextTax = 9000;

  constructor(now: () => number, firstId: number) {
    this.#now = now;
    this.#nextId = firstId;
  }

  onChange(listener: (change: Change) => void): void {
    this.#listeners.push(listener);
  }

  get(id: number): Vendor | undefined {
    return this.#vendors.get(id);
  }

  all(): Vendor[] {
    return [...this.#vendors.values()];
  }

  create(texts: Vendor['texts'], is1099 = false): Vendor {
    const now = this.#now();
    const id = this.#nextId;
    this.#nextId += 1 + (id % 3);
    return this.#put('create', {
      id,
      texts,
      is1099,
      visState: 0,
      outstanding: [],
      overdue: [],
      taxDefaults: [],
      createdAt: now,
      updatedAt: now,
    });
  }

  edit(id: number, edit: Edit): Vendor {
    const { deletedAt, ...old } = this.#vendors.get(id)!;
    const now = this.#now();
    const vendor = { ...old, ...edit, texts: { ...old.texts, ...edit.texts }, updatedAt: now };
    const deleted = vendor.visState === 1 ? { deletedAt: deletedAt ?? now } : {};
    return this.#put(vendor.visState === 1 && old.visState !== 1 ? 'delete' : 'update', { ...vendor, ...deleted });
  }

  /** Balances and tax defaults move without `updated_at`, and nobody is told. */
  book(id: number, edit: Pick<Edit, 'outstanding' | 'overdue' | 'taxDefaults'>): Vendor {
    this.movedUnread.add(id);
    return this.#put('balance', { ...this.#vendors.get(id)!, ...edit });
  }

  /** As when two vendors are merged: no record is left. */
  erase(id: number): void {
    this.#vendors.delete(id);
    this.#record({ at: this.#now(), id, kind: 'delete', vendor: undefined });
  }

  /** Something that people do in the service's own pages. */
  happen(chance: Chance): Change {
    const vendors = this.all();
    const some = vendors.length === 0 ? undefined : chance.of(vendors);
    const roll = chance.next();
    if (some === undefined || roll < 0.2) this.#createSome(chance);
    else if (roll < 0.5)
      this.edit(some.id, { texts: { [chance.of(textFields.slice(1, 13))]: chance.text(6), note: chance.text(4) } });
    else if (roll < 0.65) this.book(some.id, { outstanding: this.#money(chance), overdue: this.#money(chance) });
    else if (roll < 0.7) this.book(some.id, { taxDefaults: this.#taxDefaults(chance) });
    else if (roll < 0.78) this.edit(some.id, { is1099: !some.is1099 });
    else if (roll < 0.94) this.edit(some.id, { visState: chance.of([0, 1, 1, 2] as const) });
    else this.erase(some.id);
    return this.history.at(-1)!;
  }

  /** As the account was before the first request. */
  fill(chance: Chance, count: number): void {
    for (let made = 0; made < count; made++) {
      const { id } = this.#createSome(chance);
      if (chance.happens(0.12)) this.edit(id, { visState: chance.of([1, 2] as const) });
    }
  }

  #createSome(chance: Chance): Vendor {
    const texts: Partial<Record<TextField, string>> = {
      vendor_name: `${chance.of(names)} ${chance.text(3)}`,
      currency_code: chance.of(['USD', 'CAD', 'EUR']),
      language: 'en',
    };
    for (const field of textFields)
      if (texts[field] === undefined && chance.happens(0.5)) texts[field] = chance.text(5);
    const { id } = this.create(texts, chance.happens(0.2));
    if (chance.happens(0.5)) this.book(id, { outstanding: this.#money(chance), overdue: this.#money(chance) });
    return chance.happens(0.3) ? this.book(id, { taxDefaults: this.#taxDefaults(chance) }) : this.#vendors.get(id)!;
  }

  #money(chance: Chance): Money[] {
    if (chance.happens(0.3)) return [];
    const amount = `${chance.below(9000)}.${String(chance.below(100)).padStart(2, '0')}`;
    return [{ amount, code: chance.of(['USD', 'CAD', 'EUR']) }];
  }

  #taxDefaults(chance: Chance): TaxDefault[] {
    return Array.from({ length: chance.below(3) }, () => ({
      taxid: this.#nextTax++,
      system_taxid: 1 + chance.below(4),
      enabled: chance.happens(0.5),
      name: chance.of(['GST', 'HST']),
      amount: chance.of(['13', '13.56', '5']),
      tax_authorityid: chance.of([null, '1234-RT']),
      createdAt: this.#now(),
      updatedAt: this.#now(),
    }));
  }

  #put(kind: Kind, vendor: Vendor): Vendor {
    this.#vendors.set(vendor.id, vendor);
    this.#record({ at: this.#now(), id: vendor.id, kind, vendor });
    return vendor;
  }

  #record(change: Change): void {
    this.history.push(change);
    for (const listener of this.#listeners) listener(change);
  }
}
