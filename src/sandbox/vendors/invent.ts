/** Invents the vendors that an account begins with, each from its seed and number alone. */
import { seededRandom, mix, type SeededRandom } from '../core/random.ts';
import { locales, type Locale } from './locales.ts';
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
  const random = seededRandom(mix(seed ^ salt.rest, index));
  const locale = random.pick(locales);
  const times = firstTimes(seed, index, count);
  const outstanding = inventBalance(random, locale, 0.4);
  return {
    vendorid: idOf(seed, index),
    texts: inventTexts(random, locale),
    is1099: locale.currency === 'USD' && random.happens(0.3),
    state: firstState(seed, index),
    taxes: inventTaxes(random, times.created),
    outstanding,
    overdue: outstanding.filter(() => random.happens(0.4)),
    ...times,
  };
}

/** Texts for one vendor: some of them null, some empty. Only about a tenth have a note. */
export function inventTexts(
  random: SeededRandom,
  locale: Locale = random.pick(locales),
): Readonly<Partial<Record<WritableText, string | null>>> {
  const first = random.pick(locale.firstNames);
  const last = random.pick(locale.lastNames);
  const sometimes = (text: string): string | null => (random.happens(0.75) ? text : random.happens(0.7) ? null : '');
  const texts = {
    vendor_name: `${random.pick(locale.firms)} ${random.pick(random.happens(0.5) ? locale.trades : locale.lastNames)}`,
    account_number: sometimes(random.text(8, '0123456789')),
    primary_contact_first_name: sometimes(first),
    primary_contact_last_name: sometimes(last),
    primary_contact_email: sometimes(`contact${random.below(10_000)}@vendor.example`),
    phone: sometimes(`+${1 + random.below(98)} ${random.text(3, '23456789')}-${random.text(7, '0123456789')}`),
    street: sometimes(`${1 + random.below(400)} ${random.pick(locale.streets)}`),
    street2: random.happens(0.15) ? `Unit #${1 + random.below(40)}` : null,
    city: sometimes(random.pick(locale.cities)),
    province: sometimes(random.pick(locale.provinces)),
    postal_code: sometimes(random.text(5, '0123456789')),
    country: sometimes(locale.country),
    website: sometimes(`vendor${random.below(10_000)}.example`),
    currency_code: locale.currency,
    language: locale.language,
  };
  if (!random.happens(0.1)) return texts;
  return {
    ...texts,
    note: random.pick(['Net 30', `Ask for “${first}”,\nnever "${last}"`, 'a, b; c\td', '<i>50% & more</i> ✅']),
  };
}

/** Mostly none, often one amount in the currency of the locale, now and then a second in another one. */
function inventBalance(random: SeededRandom, locale: Locale, probability: number): Money[] {
  if (!random.happens(probability)) return [];
  const codes = random.happens(0.1) && locale.currency !== 'GBP' ? [locale.currency, 'GBP'] : [locale.currency];
  return codes.map((code) => inventMoney(random, code));
}

/** Currencies of `locales` that have no smaller unit: the service writes their amounts with two decimals all the same. */
const wholeCurrencies: ReadonlySet<string> = new Set(['JPY']);

/** A decimal with two digits, at times negative and at times large. */
export function inventMoney(random: SeededRandom, code: string): Money {
  const drawn = random.below(random.happens(0.02) ? 10 ** 11 : 10 ** 6);
  const cents = wholeCurrencies.has(code) ? drawn - (drawn % 100) : drawn;
  const sign = random.happens(0.02) ? '-' : '';
  return { amount: `${sign}${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`, code };
}

function inventTaxes(random: SeededRandom, created: number): TaxRecord[] {
  if (!random.happens(0.2)) return [];
  return systemTaxes
    .filter(() => random.happens(0.4))
    .map((tax, position) => ({
      ...tax,
      taxid: position * 2 + 1,
      enabled: random.happens(0.8),
      tax_authorityid: random.happens(0.2) ? `№ ${random.text(4, '0123456789')}` : null,
      created,
      updated: created,
    }));
}
