/**
 * Odd vendors, for tests: names in many scripts, empty texts, huge and negative amounts, more overdue than outstanding. Each draws the same
 * values for the same seed in every version, because kept seeds of the simulation depend on it.
 */
import type { SeededRandom } from '../core/random.ts';
import type { Money, VendorRecord, WritableText } from '../core/vendor-record.ts';
import { locales, type Locale } from './odd-locales.ts';
import { drawnTaxes } from './system-taxes.ts';

/** What is invented of a vendor, besides its id, its state and its times. */
export type Invented = Pick<VendorRecord, 'texts' | 'is1099' | 'taxes' | 'outstanding' | 'overdue'>;

export function oddVendor(random: SeededRandom, created: number): Invented {
  const locale = random.pick(locales);
  const outstanding = oddBalance(random, locale, 0.4);
  return {
    texts: oddTexts(random, locale),
    is1099: locale.currency === 'USD' && random.happens(0.3),
    taxes: drawnTaxes(random, created),
    outstanding,
    overdue: outstanding.filter(() => random.happens(0.4)),
  };
}

/** Texts for one vendor: some of them null, some empty. Only about a tenth have a note. */
export function oddTexts(
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
function oddBalance(random: SeededRandom, locale: Locale, probability: number): Money[] {
  if (!random.happens(probability)) return [];
  const codes = random.happens(0.1) && locale.currency !== 'GBP' ? [locale.currency, 'GBP'] : [locale.currency];
  return codes.map((code) => oddMoney(random, code));
}

/** Currencies of `locales` that have no smaller unit: the service writes their amounts with two decimals all the same. */
const wholeCurrencies: ReadonlySet<string> = new Set(['JPY']);

/** A decimal with two digits, at times negative and at times large. */
export function oddMoney(random: SeededRandom, code: string): Money {
  const drawn = random.below(random.happens(0.02) ? 10 ** 11 : 10 ** 6);
  const cents = wholeCurrencies.has(code) ? drawn - (drawn % 100) : drawn;
  const sign = random.happens(0.02) ? '-' : '';
  return { amount: `${sign}${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`, code };
}
