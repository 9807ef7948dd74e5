/** Invents the vendors that an account begins with, each from its seed and number alone. */
import { seededRandom, mix, type SeededRandom } from '../core/random.ts';
import { places, type Place } from './places.ts';
import type { Money, State, TaxRecord, VendorRecord, WritableText } from '../core/vendor-record.ts';

const day = 86_400_000;
/** Invented vendors were created and edited in the ten years from 2015-01-01 on. */
const firstDay = 1_420_070_400_000;
const years = 3_650 * day;

const systemTaxes = [
  { system_taxid: 36859, name: 'GST', amount: '13.56' },
  { system_taxid: 37696, name: 'HST', amount: '13' },
  { system_taxid: 37701, name: 'MwSt. 7 %', amount: '7' },
  { system_taxid: 37702, name: 'ΦΠΑ', amount: '24.000' },
] as const;
export type SystemTax = (typeof systemTaxes)[number];

/** The taxes of the business, by id; undefined if there is none of that number. */
export function systemTax(id: unknown): SystemTax | undefined {
  return systemTaxes.find((tax) => tax.system_taxid === id);
}

const salt = { id: 1, state: 2, times: 3, rest: 4 };

/** Ids grow with the number, distinct and with gaps: number 3 is one of 1021 to 1027. */
export function idOf(seed: number, index: number): number {
  return 1_000 + index * 7 + (mix(seed ^ salt.id, index) % 7);
}

/** The number of the vendor with this id, if an id of this account can be so. */
export function indexOf(seed: number, id: number): number | undefined {
  const index = Math.floor((id - 1_000) / 7);
  return index >= 0 && idOf(seed, index) === id ? index : undefined;
}

/** About 3 % begin deleted and 2 % archived. */
export function firstState(seed: number, index: number): State {
  const percent = mix(seed ^ salt.state, index) % 100;
  if (percent < 3) return 1;
  return percent < 5 ? 2 : 0;
}

/** When vendor `index` of `count` was created and last edited. */
export function firstTimes(seed: number, index: number, count: number): { created: number; updated: number } {
  const created = firstDay + Math.floor((years * index) / count / 1_000) * 1_000;
  const age = firstDay + years - created;
  return { created, updated: created + (mix(seed ^ salt.times, index) % Math.max(1, Math.floor(age / 1_000))) * 1_000 };
}

export function inventVendor(seed: number, index: number, count: number): VendorRecord {
  const throws = seededRandom(mix(seed ^ salt.rest, index));
  const place = throws.pick(places);
  const times = firstTimes(seed, index, count);
  const outstanding = inventBalance(throws, place, 0.4);
  return {
    vendorid: idOf(seed, index),
    texts: inventTexts(throws, place),
    is1099: place.currency === 'USD' && throws.happens(0.3),
    state: firstState(seed, index),
    taxes: inventTaxes(throws, times.created),
    outstanding,
    overdue: outstanding.filter(() => throws.happens(0.4)),
    ...times,
  };
}

/** Texts for one vendor: some of them null, some empty. Only about a tenth have a note. */
export function inventTexts(
  throws: SeededRandom,
  place: Place = throws.pick(places),
): Readonly<Partial<Record<WritableText, string | null>>> {
  const first = throws.pick(place.firstNames);
  const last = throws.pick(place.lastNames);
  const sometimes = (text: string): string | null => (throws.happens(0.75) ? text : throws.happens(0.7) ? null : '');
  const texts = {
    vendor_name: `${throws.pick(place.firms)} ${throws.pick(throws.happens(0.5) ? place.trades : place.lastNames)}`,
    account_number: sometimes(throws.text(8, '0123456789')),
    primary_contact_first_name: sometimes(first),
    primary_contact_last_name: sometimes(last),
    primary_contact_email: sometimes(`contact${throws.below(10_000)}@vendor.example`),
    phone: sometimes(`+${1 + throws.below(98)} ${throws.text(3, '23456789')}-${throws.text(7, '0123456789')}`),
    street: sometimes(`${1 + throws.below(400)} ${throws.pick(place.streets)}`),
    street2: throws.happens(0.15) ? `Unit #${1 + throws.below(40)}` : null,
    city: sometimes(throws.pick(place.cities)),
    province: sometimes(throws.pick(place.provinces)),
    postal_code: sometimes(throws.text(5, '0123456789')),
    country: sometimes(place.country),
    website: sometimes(`vendor${throws.below(10_000)}.example`),
    currency_code: place.currency,
    language: place.language,
  };
  if (!throws.happens(0.1)) return texts;
  return {
    ...texts,
    note: throws.pick(['Net 30', `Ask for “${first}”,\nnever "${last}"`, 'a, b; c\td', '<i>50% & more</i> ✅']),
  };
}

/** Mostly none, often one amount in the currency of the place, now and then a second in another one. */
function inventBalance(throws: SeededRandom, place: Place, probability: number): Money[] {
  if (!throws.happens(probability)) return [];
  const codes = throws.happens(0.1) && place.currency !== 'GBP' ? [place.currency, 'GBP'] : [place.currency];
  return codes.map((code) => inventMoney(throws, code));
}

/** Currencies of `places` that have no smaller unit: the service writes their amounts with two places all the same. */
const wholeCurrencies: ReadonlySet<string> = new Set(['JPY']);

/** A decimal with two places, at times negative and at times large. */
export function inventMoney(throws: SeededRandom, code: string): Money {
  const thrown = throws.below(throws.happens(0.02) ? 10 ** 11 : 10 ** 6);
  const cents = wholeCurrencies.has(code) ? thrown - (thrown % 100) : thrown;
  const sign = throws.happens(0.02) ? '-' : '';
  return { amount: `${sign}${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`, code };
}

function inventTaxes(throws: SeededRandom, created: number): TaxRecord[] {
  if (!throws.happens(0.2)) return [];
  return systemTaxes
    .filter(() => throws.happens(0.4))
    .map((tax, position) => ({
      ...tax,
      taxid: position * 2 + 1,
      enabled: throws.happens(0.8),
      tax_authorityid: throws.happens(0.2) ? `№ ${throws.text(4, '0123456789')}` : null,
      created,
      updated: created,
    }));
}
